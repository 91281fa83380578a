"""A careful client, except that only the first attempt has an Idempotency-Key."""

from __future__ import annotations

import sys

from careful import Careful


class NoRetryKey(Careful):
    """The difference from the careful client."""

    def key(self, key: str, attempt: int) -> str:
        """Return the key for the first attempt only."""
        return key if attempt == 0 else ""


if __name__ == "__main__":
    sys.exit(NoRetryKey.main())
