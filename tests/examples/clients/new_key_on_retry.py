"""A careful client, except that each attempt has a new Idempotency-Key."""

from __future__ import annotations

import sys

from careful import Careful


class NewKeyOnRetry(Careful):
    """The difference from the careful client."""

    def key(self, key: str, attempt: int) -> str:
        """Return a different key for each attempt."""
        return f"{key}:{attempt}" if key else ""


if __name__ == "__main__":
    sys.exit(NewKeyOnRetry.main())
