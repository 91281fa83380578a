"""A client that knows each status there was when it was written; else it takes care."""

from __future__ import annotations

import sys
from collections import Counter

from careful import Careful
from service import Json

PHASES = {"queued": 0, "building": 20, "deploying": 60, "verifying": 90, "done": 100}
STATUSES = {
    "queued": "waiting",
    "building": "in work",
    "deploying": "in work",
    "ready": "online",
    "failed": "broken",
    "cancelled": "stopped",
}


class BreaksOnUnknownStatus(Careful):
    """What differs from the careful one."""

    def look_at(self, body: Json) -> None:
        """Read what an answer holds. Raises KeyError for a word that did not exist yet."""
        if items := body.get("items"):
            print(Counter(STATUSES[deployment["status"]] for deployment in items))
        if progress := body.get("progress"):
            print(f"{PHASES[progress['phase']]} percent")


if __name__ == "__main__":
    sys.exit(BreaksOnUnknownStatus.main())
