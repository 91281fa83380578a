"""A client that takes a new Idempotency-Key for each attempt; else it takes care."""

from __future__ import annotations

import sys

from careful import Careful


class NewKeyOnRetry(Careful):
    """What differs from the careful one."""

    def key(self, key: str, attempt: int) -> str:
        """Each attempt has a key of its own."""
        return f"{key}:{attempt}" if key else ""


if __name__ == "__main__":
    sys.exit(NewKeyOnRetry.main())
