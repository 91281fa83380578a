"""A client that tries again when it likes, not when it was asked to; else it takes care."""

from __future__ import annotations

import sys

from careful import Careful
from service import Answer


class IgnoresRetryAfter(Careful):
    """What differs from the careful one."""

    def pause_s(self, answer: Answer | None, attempt: int) -> float:
        """How long to wait before the next attempt, in seconds: hardly."""
        return 0.1


if __name__ == "__main__":
    sys.exit(IgnoresRetryAfter.main())
