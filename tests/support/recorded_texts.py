"""What the golden files of texts share. `make record` writes them, and a person reads them in review."""

from __future__ import annotations

import re

#: The first line of each file.
HEADER = "Written by `make record`. After an intended change, read the diff.\n"
_RECENT_ULID = re.compile(r"\b01[0-9A-Z]{24}\b")


def without_ids(text: str) -> str:
    """Replace the ids of records, which a reader cannot tell apart, by `ID`."""
    return _RECENT_ULID.sub("ID", text)
