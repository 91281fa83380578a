"""The files of a world's folder: the format they are of, what guards each, marker and progress.

A format is the shape of the documents in snapshot, journal and export, which all carry its number.
To change what is stored, raise FORMAT: a number never stands for two formats, which a test holds
(`tests/storage/test_formats.py`). Files of another format are refused with advice.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.contract.conversion import decode_json
from hosting_emulator.storage.files import open_private, write_atomically

FORMAT = 5
SNAPSHOT = "snapshot.json"
JOURNAL = "journal.ndjson"
MARKER = "world.json"
PROGRESS = "progress"
INDEX = "worlds.json"
ADVICE = (
    "restore it from a copy, start with --salvage to go on with what is there, or move the folder "
    "away to start afresh"
)


#: What helps with whole files of another format. To salvage them does not.
_FORMAT_ADVICE = (
    "or use another --data-dir, or move the folder away to start afresh. To take over what a world "
    "holds, let that build write it as a scenario (`hosting-emulator scenario record world.yaml`)"
)


class StateRefused(Exception):
    """Stored or imported state cannot be used; the message says where, why and what to do."""


class FormatRefused(StateRefused):
    """The state is whole but of a format that this version cannot read: salvage is no help."""


@contextmanager
def found_in(where: object, advice: str = "") -> Iterator[None]:
    """Say of what is refused where it stands, and what to do. Raises what was raised.

    `advice` is about damaged files; whole files of another format need another one.
    """
    try:
        yield
    except FormatRefused as refused:
        raise FormatRefused(f"{where}: {refused}{advice and f', {_FORMAT_ADVICE}'}") from None
    except StateRefused as refused:
        raise type(refused)(f"{where}: {refused}{advice and f'; {advice}'}") from None


def check_format(number: object, written_by: object) -> None:
    """Check a format's number and the version that wrote it. Raises FormatRefused."""
    if number == FORMAT and number is not True:
        return
    build = f"hosting-emulator {written_by}" if written_by else "the build that wrote it"
    raise FormatRefused(
        f"its format is {number!r}, and this hosting-emulator, {FULL_VERSION}, reads only format "
        f"{FORMAT}; use {build}"
    )


def checked_line(kind: bytes, payload: bytes) -> bytes:
    """Return a line of JSON that knows whether it is whole: `{"crc32":"…","<kind>":{…}}`."""
    return b'{"crc32":"%08x","%b":%b}\n' % (crc32(payload), kind, payload)


def payload_of(line: bytes, kind: bytes) -> bytes | None:
    """Return the JSON of a line without its newline; None when it is not whole, or not this kind."""
    payload = line[len(checked_line(kind, b"")) - len(b"}\n") : -len(b"}")]
    return payload if checked_line(kind, payload) == line + b"\n" else None


class Marker(msgspec.Struct, frozen=True):
    """`world.json`: says that a world lives in a folder.

    Without it, a folder whose snapshot was lost would look like one that never had any. `boot` is the
    run of the machine in which commits were not synced, if there was one: only its end may lose some.
    `lineage` tells the world from all others of its name, such as one that was here before: it is
    drawn when a world is first kept, and each of its files names it.
    """

    boot: str = ""
    lineage: str | None = None


def read_marker(folder: Path) -> Marker | None:
    """Return a folder's marker; None when it has none. Raises StateRefused, OSError."""
    path = folder / MARKER
    if not path.exists():
        return None
    line = path.read_bytes()
    if not line:  # the machine died before it was on disk: that it is there is all it says
        return Marker()
    payload = payload_of(line[:-1], b"world") if line.endswith(b"\n") else None
    try:
        return decode_json(payload or b"", Marker)
    except msgspec.MsgspecError:
        raise StateRefused(
            f"{path}: the checksum does not fit, so the file was changed or damaged; restore it "
            "from a copy, or start with --salvage"
        ) from None


def write_marker(folder: Path, marker: Marker, *, sync: bool) -> None:
    """Put a folder's marker in place; `sync` makes it survive the machine's death. Raises OSError."""
    line = checked_line(b"world", msgspec.json.encode(marker))
    write_atomically(folder / MARKER, line, sync=sync)


def boot_id() -> str:
    """Return what tells this run of the machine from all others; empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


_NUMBER = struct.Struct("<Q")
_CHECKED = 2 * _NUMBER.size
#: More starts than any world has had: of one whose count was lost.
NEVER_REACHED = 1_000_000


class ProgressNumbers(NamedTuple):
    """How far a world came: its last commit, the last moment shown, how often it was read back."""

    commit: int = 0
    shown_ms: int = 0
    starts: int = 0


#: The places of its numbers.
COMMIT, SHOWN, STARTS = range(3)


class Progress:
    """How far a world has come, in an open file.

    Its numbers are mapped into memory, so that noting one costs no more than writing a number, and
    they outlive the process, though not always the machine. By them a start knows whether the end of
    a journal is missing, which a file that ends with a whole line does not show, and time goes on from
    where it was. Beside each stands its checksum, which also says of which lineage it is.
    """

    def __init__(self, folder: Path, lineage: str) -> None:
        """Open a folder's file, or make it. Raises OSError."""
        found = read_progress(folder, lineage)
        if found is None:
            write_progress(folder, lineage, found := ProgressNumbers(), sync=False)
        self.numbers, self._lineage = list(found), lineage
        descriptor = open_private(folder / PROGRESS, os.O_RDWR)
        try:
            self._map = mmap.mmap(descriptor, len(ProgressNumbers._fields) * _CHECKED)
        finally:
            os.close(descriptor)

    def note(self, place: int, number: int) -> None:
        """Note a number: COMMIT, SHOWN or STARTS."""
        self.numbers[place] = number
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


def _file(lineage: str, reached: ProgressNumbers) -> bytes:
    return b"".join(_checked(lineage, *numbered) for numbered in enumerate(reached))


def write_progress(folder: Path, lineage: str, reached: ProgressNumbers, *, sync: bool) -> None:
    """Put a folder's file in place; `sync` makes it survive the machine's death. Raises OSError."""
    write_atomically(folder / PROGRESS, _file(lineage, reached), sync=sync)


def read_progress(folder: Path, lineage: str) -> ProgressNumbers | None:
    """Return what a folder's file says; None when it is missing, damaged or of another lineage."""
    path = folder / PROGRESS
    data = path.read_bytes() if path.exists() else b""
    if len(data) != len(ProgressNumbers._fields) * _CHECKED:
        return None
    reached = ProgressNumbers(
        *(_NUMBER.unpack_from(data, at)[0] for at in range(0, len(data), _CHECKED))
    )
    return reached if data == _file(lineage, reached) else None
