"""A careful client, except that it breaks on a status that it does not know."""

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
    """The difference from the careful client."""

    def look_at(self, body: Json) -> None:
        """Read the content of a response. Raises KeyError for an unknown status or phase."""
        items = body.get("items")
        if items:
            print(Counter(STATUSES[deployment["status"]] for deployment in items))
        progress = body.get("progress")
        if progress:
            print(f"{PHASES[progress['phase']]} percent")


if __name__ == "__main__":
    sys.exit(BreaksOnUnknownStatus.main())
