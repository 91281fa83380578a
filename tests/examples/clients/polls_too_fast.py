"""A client that polls as often as it likes, not as it was told; else it takes care."""

from __future__ import annotations

import sys

from careful import Careful
from service import Json


class PollsTooFast(Careful):
    """What differs from the careful one."""

    def poll_pause_s(self, operation: Json) -> float:
        """How long to wait before an operation is polled, in seconds: hardly."""
        return 0.25


if __name__ == "__main__":
    sys.exit(PollsTooFast.main())
