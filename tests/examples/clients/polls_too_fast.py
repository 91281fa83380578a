"""A careful client, except that it polls too fast."""

from __future__ import annotations

import sys

from careful import Careful
from service import Json


class PollsTooFast(Careful):
    """The difference from the careful client."""

    def poll_pause_s(self, operation: Json) -> float:
        """Return a short wait before the next poll, in seconds."""
        return 0.25


if __name__ == "__main__":
    sys.exit(PollsTooFast.main())
