"""How far a world has come: its last commit, the last moment shown, how often it was read back.

Three numbers that are mapped into memory, so that noting a moment costs no more than writing a number,
and they outlive the process, though not always the machine. By them a start knows whether the end of
a journal is missing, which a file that ends with a whole line does not show, and time goes on from
where it was. Beside each stands its checksum, which also says of which lineage it is.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from hosting_emulator.storage.files import open_private, write_atomically
from hosting_emulator.storage.format import PROGRESS

_NUMBER = struct.Struct("<Q")
_CHECKED = 2 * _NUMBER.size
#: More starts than any world has had: of one whose count was lost.
NEVER_REACHED = 1_000_000
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Reached(NamedTuple):
    """The numbers: a commit, a moment of world time, and how often the world was read back."""

    commit: int = 0
    shown_ms: int = 0
    starts: int = 0


class Progress:
    """An open file. `commit` and `shown_ms` only go forward, but for a world that is replaced."""

    def __init__(self, folder: Path, lineage: str) -> None:
        """Open a folder's file, or make it. Raises OSError."""
        found = read_progress(folder, lineage)
        if found is None:
            write_progress(folder, lineage, found := Reached(), sync=False)
        self.commit, self.shown_ms, self.starts = found
        self._lineage = lineage
        descriptor = open_private(folder / PROGRESS, os.O_RDWR)
        try:
            self._map = mmap.mmap(descriptor, len(Reached._fields) * _CHECKED)
        finally:
            os.close(descriptor)

    def reach(self, commit: int) -> None:
        """Note that a commit is kept."""
        self.commit = commit
        self._write(0, commit)

    def show(self, at_ms: int) -> None:
        """Note that a moment of world time was shown."""
        self.shown_ms = at_ms
        self._write(1, at_ms)

    def start(self) -> None:
        """Note that the world was read back once more."""
        self.starts += 1
        self._write(2, self.starts)

    def _write(self, place: int, number: int) -> None:
        if not self._map.closed:  # a deleted world may still be asked for the time
            # In one piece, so that no kill leaves a number without its checksum.
            at = place * _CHECKED
            self._map[at : at + _CHECKED] = _checked(self._lineage, place, number)

    def close(self) -> None:
        """Close the file; closing it again is no error."""
        self._map.close()


def _checked(lineage: str, place: int, number: int) -> bytes:
    data = _NUMBER.pack(number)
    return data + _NUMBER.pack(crc32(b"%b %d %b" % (data, place, lineage.encode())))


def _file(lineage: str, reached: Reached) -> bytes:
    return b"".join(_checked(lineage, *numbered) for numbered in enumerate(reached))


def write_progress(folder: Path, lineage: str, reached: Reached, *, sync: bool) -> None:
    """Put a folder's file in place; `sync` makes it survive the machine's death. Raises OSError."""
    write_atomically(folder / PROGRESS, _file(lineage, reached), sync=sync)


def read_progress(folder: Path, lineage: str) -> Reached | None:
    """Return what a folder's file says; None when it is missing, damaged or of another lineage."""
    path = folder / PROGRESS
    data = path.read_bytes() if path.exists() else b""
    numbers = (_NUMBER.unpack_from(data, at)[0] for at in range(0, len(data) - 7, _CHECKED))
    reached = Reached(*numbers) if len(data) == len(_file("", Reached())) else Reached()
    return reached if data == _file(lineage, reached) else None


def boot_id() -> str:
    """Return what tells this run of the machine from all others; empty where nothing does."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
