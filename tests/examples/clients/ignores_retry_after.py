"""A careful client, except that it ignores Retry-After."""

from __future__ import annotations

import sys

from careful import Careful
from service import Response


class IgnoresRetryAfter(Careful):
    """The difference from the careful client."""

    def pause_s(self, response: Response | None, attempt: int) -> float:
        """Return a short wait before the next attempt, in seconds."""
        return 0.1


if __name__ == "__main__":
    sys.exit(IgnoresRetryAfter.main())
