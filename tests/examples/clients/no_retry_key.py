"""A client that sends its Idempotency-Key with the first attempt only; else it takes care."""

from __future__ import annotations

import sys

from careful import Careful


class NoRetryKey(Careful):
    """What differs from the careful one."""

    def key(self, key: str, attempt: int) -> str:
        """Only a first attempt has a key."""
        return key if attempt == 0 else ""


if __name__ == "__main__":
    sys.exit(NoRetryKey.main())
