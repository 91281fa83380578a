"""The marker `world.json`: says that a world lives in a folder, and how often it was started.

Without it, a folder whose snapshot was lost would look like one that never had any.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.files import write_atomically
from hosting_emulator.storage.lines import checked_line, payload_of

MARKER = "world.json"
_KIND = b"world"


class Marker(msgspec.Struct, frozen=True):
    """How often a world was read back from its folder; 0 in the process that made it."""

    starts: int


def read_marker(folder: Path) -> Marker | None:
    """Return a folder's marker; None when it has none. Raises StateRefused, OSError."""
    path = folder / MARKER
    if not path.exists():
        return None
    line = path.read_bytes()
    if not line:  # the machine died before it was on disk: that it is there is all it says
        return Marker(0)
    payload = payload_of(line[:-1], _KIND) if line.endswith(b"\n") else None
    if payload is None:
        raise StateRefused(
            f"{path}: the checksum does not fit, so the file was changed or damaged; restore it "
            "from a copy, or start with --salvage"
        )
    return msgspec.json.decode(payload, type=Marker)


def write_marker(folder: Path, marker: Marker, *, sync: bool) -> None:
    """Put a folder's marker in place; `sync` makes it survive the machine's death. Raises OSError."""
    line = checked_line(_KIND, msgspec.json.encode(marker))
    write_atomically(folder / MARKER, [line], sync=sync)
