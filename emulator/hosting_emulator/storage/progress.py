"""How far a world has come: its last commit, and the last moment that anybody was shown.

Sixteen bytes that are mapped into memory, so that noting a moment costs no more than writing a number,
and they outlive the process, though not always the machine. By them a start knows whether the end of
a journal is missing, which a file that ends with a whole line does not show, and time goes on from
where it was.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

from hosting_emulator.storage.files import open_private
from hosting_emulator.storage.format import PROGRESS

_NUMBERS = struct.Struct("<QQ")
_NUMBER = struct.Struct("<Q")
_SHOWN = _NUMBER.size
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Progress:
    """An open file. `commit` and `shown_ms` only go forward, but for a world that is replaced."""

    def __init__(self, folder: Path) -> None:
        """Open a folder's file, or make it. Raises OSError."""
        descriptor = open_private(folder / PROGRESS, os.O_RDWR)
        try:
            if os.fstat(descriptor).st_size != _NUMBERS.size:
                os.ftruncate(descriptor, _NUMBERS.size)
            self._map = mmap.mmap(descriptor, _NUMBERS.size)
        finally:
            os.close(descriptor)
        self.commit, self.shown_ms = _NUMBERS.unpack(self._map[:])

    def reach(self, commit: int) -> None:
        """Note that a commit is kept."""
        self.commit = commit
        self._write(0, commit)

    def show(self, at_ms: int) -> None:
        """Note that a moment of world time was shown."""
        self.shown_ms = at_ms
        self._write(_SHOWN, at_ms)

    def _write(self, place: int, number: int) -> None:
        if not self._map.closed:  # a deleted world may still be asked for the time
            _NUMBER.pack_into(self._map, place, number)

    def close(self) -> None:
        """Close the file; closing it again is no error."""
        self._map.close()


def read_commit(folder: Path) -> int:
    """Return the last commit that is known to have been kept in a folder; 0: nothing is known."""
    path = folder / PROGRESS
    data = path.read_bytes() if path.exists() else b""
    return int(_NUMBERS.unpack(data)[0]) if len(data) == _NUMBERS.size else 0


def boot_id() -> str:
    """Return what tells this run of the machine from all others; empty where nothing does."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
