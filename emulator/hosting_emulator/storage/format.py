"""The files in a world's folder: their names, format and checksums, and the marker and progress
files.

A format defines the shape of the documents in snapshots, journals and exports. Each snapshot,
journal and export contains the number of its format. Increase FORMAT whenever the stored documents
change, because a number must never refer to two different formats. The tests in
`tests/storage/test_formats.py` fail if the documents changed but FORMAT was not increased. The
error message for a file in a different format says what the user can do.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import msgspec

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.contract.conversion import decode_json
from hosting_emulator.storage.files import open_private, write_atomically

FORMAT = 7
SNAPSHOT = "snapshot.json"
JOURNAL = "journal.ndjson"
MARKER = "world.json"
PROGRESS = "progress"
INDEX = "worlds.json"
ADVICE = (
    "restore it from a copy, start with --salvage to continue with the readable data, or move "
    "the folder away to start afresh"
)


#: The advice for intact files in a different format, which salvage cannot read.
_FORMAT_ADVICE = (
    "or use another --data-dir, or move the folder away to start afresh. To keep the content of "
    "a world, record it as a scenario with the build that wrote the files (`hosting-emulator "
    "scenario record world.yaml`)"
)


class StateRefused(Exception):
    """Raised if stored or imported state cannot be used. The message says where, why, and what to
    do.
    """


class FormatRefused(StateRefused):
    """Raised if the state is intact but in a format that this version cannot read, even with
    salvage.
    """


@contextmanager
def locate(path: object, advice: str = "") -> Iterator[None]:
    """Add `path` and `advice` to the message of any StateRefused raised in the `with` block.

    `advice` says what to do about a damaged file, and is added unless it is empty. For an intact
    file in a different format, fixed advice is added instead.
    """
    try:
        yield
    except FormatRefused as refused:
        raise FormatRefused(f"{path}: {refused}, {_FORMAT_ADVICE}") from None
    except StateRefused as refused:
        ending = f"; {advice}" if advice else ""
        raise type(refused)(f"{path}: {refused}{ending}") from None


def check_format(number: object, written_by: object) -> None:
    """Raise FormatRefused if `number` is not FORMAT.

    The message includes `written_by`, the version that wrote the file.
    """
    if number == FORMAT and number is not True:
        return
    build = f"hosting-emulator {written_by}" if written_by else "the build that wrote the file"
    raise FormatRefused(
        f"its format is {number!r}, and this hosting-emulator, {FULL_VERSION}, reads only format "
        f"{FORMAT}; use {build}"
    )


def checked_line(kind: bytes, payload: bytes) -> bytes:
    """Return a JSON line that contains a payload and its checksum: `{"crc32":"…","<kind>":{…}}`."""
    return b'{"crc32":"%08x","%b":%b}\n' % (crc32(payload), kind, payload)


def payload_of(line: bytes, kind: bytes) -> bytes | None:
    """Return the JSON in a line, or None if the line is damaged or is not of this `kind`.

    `line` must not include the newline.
    """
    payload = line[len(checked_line(kind, b"")) - len(b"}\n") : -len(b"}")]
    return payload if checked_line(kind, payload) == line + b"\n" else None


class Marker(msgspec.Struct, frozen=True):
    """The content of `world.json`, which marks the folder of a world.

    Without the marker, a folder that lost its snapshot would look like one that never had a
    snapshot. `boot` is the id of the machine's boot during which commits were written but not
    synced. Such commits can be lost only if the machine crashes. `boot` is empty if all commits are
    synced. `lineage` distinguishes the world from other worlds with the same name, such as an
    earlier one. It is generated when the world is first stored, and all of the world's files
    contain it.
    """

    boot: str = ""
    lineage: str | None = None


def read_marker(folder: Path) -> Marker | None:
    """Return a folder's marker, or None if the folder has no marker.

    Raises StateRefused if the marker is damaged. Raises OSError if the marker cannot be read.
    """
    path = folder / MARKER
    if not path.exists():
        return None
    line = path.read_bytes()
    if not line:  # the machine crashed before the content reached the disk
        return Marker()
    payload = None
    if line.endswith(b"\n"):
        payload = payload_of(line[:-1], b"world")
    try:
        return decode_json(payload or b"", Marker)
    except msgspec.MsgspecError:
        raise StateRefused(
            f"{path}: its checksum is wrong, so the file was changed or damaged; restore it "
            "from a copy, or start with --salvage"
        ) from None


def write_marker(folder: Path, marker: Marker, *, sync: bool) -> None:
    """Write a folder's marker. With `sync`, the marker survives a crash of the machine. Raises OSError."""
    line = checked_line(b"world", msgspec.json.encode(marker))
    write_atomically(folder / MARKER, line, sync=sync)


def boot_id() -> str:
    """Return the id of the machine's current boot, or an empty string if the system has no boot ids."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


_NUMBER = struct.Struct("<Q")
_CHECKED_SIZE = 2 * _NUMBER.size
#: The number of starts to assume if the actual number was lost. No world is ever started this many
#: times.
NEVER_REACHED = 1_000_000


@dataclass(frozen=True)
class ProgressNumbers:
    """A world's progress: its latest commit, the latest time shown to a client, and the number of
    starts.
    """

    commit: int = 0
    shown_ms: int = 0
    starts: int = 0

    def in_order(self) -> tuple[int, ...]:
        """Return the numbers in the order of the progress file."""
        return self.commit, self.shown_ms, self.starts


#: The index of each number in the progress file.
COMMIT = 0
SHOWN = 1
STARTS = 2
_COUNT = 3


class Progress:
    """The open progress file of a world.

    The file is mapped into memory, so storing a number costs no more than a memory write. The
    numbers survive if the process is killed, but not always if the machine crashes. The next start
    uses them to detect a journal whose end is missing, because a journal that was cut off after a
    complete line looks intact. It also continues the world's time from the stored time. Each number
    has a checksum, which also covers the lineage.
    """

    def __init__(self, folder: Path, lineage: str) -> None:
        """Open or create the progress file of a folder. Raises OSError."""
        numbers = read_progress(folder, lineage)
        if numbers is None:
            numbers = ProgressNumbers()
            write_progress(folder, lineage, numbers, sync=False)
        self._numbers = [*numbers.in_order()]
        self._lineage = lineage
        descriptor = open_private(folder / PROGRESS, os.O_RDWR)
        try:
            self._map = mmap.mmap(descriptor, _COUNT * _CHECKED_SIZE)
        finally:
            os.close(descriptor)

    @property
    def numbers(self) -> ProgressNumbers:
        """The current progress numbers."""
        return ProgressNumbers(*self._numbers)

    def number(self, index: int) -> int:
        """Return a number. `index` is COMMIT, SHOWN or STARTS."""
        return self._numbers[index]

    def store(self, index: int, number: int) -> None:
        """Store a number. `index` is COMMIT, SHOWN or STARTS."""
        self._numbers[index] = number
        if not self._map.closed:  # a request may still try to store the time of a deleted world
            # Use a single write, so that a number is never stored without its checksum if the
            # process is killed.
            offset = index * _CHECKED_SIZE
            self._map[offset : offset + _CHECKED_SIZE] = _checked(self._lineage, index, number)

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._map.close()


def _checked(lineage: str, index: int, number: int) -> bytes:
    data = _NUMBER.pack(number)
    return data + _NUMBER.pack(crc32(b"%b %d %b" % (data, index, lineage.encode())))


def _content(lineage: str, numbers: ProgressNumbers) -> bytes:
    return b"".join(
        _checked(lineage, index, number) for index, number in enumerate(numbers.in_order())
    )


def write_progress(folder: Path, lineage: str, numbers: ProgressNumbers, *, sync: bool) -> None:
    """Write a folder's progress file.

    With `sync`, the file survives a crash of the machine. Raises OSError.
    """
    write_atomically(folder / PROGRESS, _content(lineage, numbers), sync=sync)


def read_progress(folder: Path, lineage: str) -> ProgressNumbers | None:
    """Return a folder's progress numbers, or None if they cannot be used.

    The progress file cannot be used if it is missing, damaged or from another lineage.
    """
    path = folder / PROGRESS
    if not path.exists():
        return None
    data = path.read_bytes()
    if len(data) != _COUNT * _CHECKED_SIZE:
        return None
    offsets = range(0, len(data), _CHECKED_SIZE)
    numbers = ProgressNumbers(*(_NUMBER.unpack_from(data, offset)[0] for offset in offsets))
    if data != _content(lineage, numbers):
        return None
    return numbers
