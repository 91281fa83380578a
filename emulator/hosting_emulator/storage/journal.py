"""The journal: one checked line for each commit, appended before its answer leaves.

A journal begins with a line that gives its format. A line that was cut off at the end of the file
was never acknowledged: it is dropped, and said. Anything else wrong is an error, because guessing
would lose what was promised.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.contract.conversion import decode_json
from hosting_emulator.engine.history import Commit
from hosting_emulator.storage import format as f
from hosting_emulator.storage.documents import StoredCommit, read_row
from hosting_emulator.storage.files import open_private, write_atomically

_HEAD, _COMMIT = b"journal", b"commit"
_ADVICE = f.ADVICE.replace("restore it", "restore the file")
_encode = msgspec.json.Encoder().encode


def first_line(world: str, lineage: str = "") -> bytes:
    """Return the first line of a journal of a world. Its own form must never change."""
    head = {"format": f.FORMAT, "written_by": FULL_VERSION, "world": world, "lineage": lineage}
    return f.checked_line(_HEAD, msgspec.json.encode(head))


def encode_line(commit: Commit) -> bytes:
    """Return the line of a commit, with its newline."""
    line = StoredCommit(commit.world.commit, commit.world.at_ms, commit.title, commit.writes)
    return f.checked_line(_COMMIT, _encode(line))


def decode_line(line: bytes) -> StoredCommit:
    """Return the commit of a line without its newline. Raises StateRefused, saying what is wrong."""
    payload = f.payload_of(line, _COMMIT)
    if payload is None:
        raise f.StateRefused("the checksum does not fit, so the line was changed or damaged")
    try:
        commit = decode_json(payload, StoredCommit)
    except msgspec.MsgspecError as error:
        raise f.StateRefused(str(error)) from None
    commit.writes = {
        table: {
            key: None if document is None else read_row(table, key, document)
            for key, document in rows.items()
        }
        for table, rows in commit.writes.items()
    }
    return commit


class Journal:
    """An open journal file. `size` is its length in bytes up to the last whole line.

    `broken` says why it takes no more lines, once it does not: its end is then unknown. `unsynced`
    says that a sync failed: what was appended before may be lost, and nobody can tell.
    """

    def __init__(self, path: Path, world: str, lineage: str = "") -> None:
        self.path = path
        self._first_line = first_line(world, lineage)
        self._descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
        self._open = threading.Lock()  # held while a thread syncs, so that nobody closes it then
        self.size = os.fstat(self._descriptor).st_size
        self.broken: str | None = None
        self.unsynced: str | None = None
        if self.size == 0:
            try:
                self.append(self._first_line)
            except OSError:
                self.close()
                raise

    @property
    def empty(self) -> bool:
        """True when it holds no commit."""
        return self.size <= len(self._first_line)

    @property
    def is_deleted(self) -> bool:
        """Whether the open file has no name any more, so that nothing written to it can be found."""
        return self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink == 0

    def condition(self) -> Literal["intact", "missing", "replaced", "shortened"]:
        """Compare the file at the path with the one that is open. Raises OSError."""
        if self._descriptor < 0:
            return "intact"  # it is closed: the next append begins it again
        try:
            at_path = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        if not os.path.samestat(at_path, os.fstat(self._descriptor)):
            return "replaced"
        return "shortened" if at_path.st_size < self.size else "intact"

    def append(self, line: bytes) -> None:
        """Append a line in one write. Raises OSError; the file is then as it was."""
        if self.broken is not None:
            raise OSError(errno.EIO, self.broken)
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            try:
                os.ftruncate(self._descriptor, self.size)
            except OSError as error:
                self.broken = f"the journal {self.path} is damaged: {error.strerror}"
            raise
        self.size += len(line)

    def sync(self) -> None:
        """Make all that was appended survive the machine's death. Raises OSError.

        A closed journal needs none: whoever closed it has put something durable in its place.
        """
        with self._open:
            if self._descriptor < 0:
                return
            if self.broken is not None:  # after a failed sync the system forgets what was lost
                raise OSError(errno.EIO, self.broken)
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                self.unsynced = f"the journal {self.path} could not be synced: {error.strerror}"
                self.broken = self.unsynced
                raise

    def close(self) -> None:
        """Close the file; closing it again is no error."""
        with self._open:
            if self._descriptor >= 0:
                # The system gives a closed descriptor's number to the next file or socket.
                descriptor, self._descriptor = self._descriptor, -1
                self.broken = self.broken or f"the journal {self.path} is closed"
                os.close(descriptor)


def begin_journal(path: Path, world: str, lineage: str, *, sync: bool) -> Journal:
    """Put an empty journal in the place of whatever is there, in one step. Raises OSError."""
    write_atomically(path, first_line(world, lineage), sync=sync)
    return Journal(path, world, lineage)


class JournalLines:
    """A journal as read from its file: its lines, and what is to be said of it."""

    def __init__(self, path: Path, *, last: bool) -> None:
        """Read a file; `last` allows a torn line at its end. Raises StateRefused, OSError."""
        self.path = path
        self.notice: str | None = None
        data = path.read_bytes()
        self._end = len(data)  # where the file should end; not there when something was torn
        self._ends_whole = True
        *lines, tail = data.split(b"\n")
        if tail:
            with f.found_in(path, _ADVICE):
                self._read_tail(tail, lines, last=last)
        first = f.payload_of(lines[0], _HEAD) if lines else None
        #: The name and the lineage of the world that it is of; None where it does not say.
        self.world = None if first is None else _check_head(path, first)
        self._start = 1 if first is None else 2
        #: The lines that hold commits, or should.
        self.lines = lines[self._start - 1 :]

    def _read_tail(self, tail: bytes, lines: list[bytes], *, last: bool) -> None:
        kind = _COMMIT if lines or f.payload_of(tail, _HEAD) is None else _HEAD
        if f.payload_of(tail, kind) is not None:
            lines.append(tail)  # only its newline was lost: the line is whole
            self._ends_whole = False
        elif f.payload_of(tail[:-1], kind) is not None:
            raise f.StateRefused("the last byte was changed or damaged")
        elif not last:
            raise f.StateRefused("its last line is cut off, but later journals follow it")
        else:
            name = self.path.name
            self.notice = f"{name}: its last line was cut off and never acknowledged; dropped"
            self._end -= len(tail)

    def mend(self) -> None:
        """Make the file end after its last whole line, so that more can follow. Raises OSError."""
        if not self._ends_whole:
            with self.path.open("ab") as file:
                file.write(b"\n")
        elif self.notice is not None:
            os.truncate(self.path, self._end)

    def commits(self) -> Iterator[StoredCommit]:
        """Walk the commits. Raises StateRefused at the first line that is damaged."""
        for number, line in enumerate(self.lines, self._start):
            try:
                yield decode_line(line)
            except f.StateRefused as refused:
                where = f"{self.path}, line {number}"
                raise f.StateRefused(f"{where}: {refused}; {_ADVICE}") from None


def read_leniently(path: Path, world: tuple[str, str]) -> Iterator[tuple[int, StoredCommit | None]]:
    """Walk a journal's lines by number; None for one that cannot be read, or is of another world."""
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    for number, line in enumerate(lines, 1):
        if number == 1 and (first := f.payload_of(line, _HEAD)) is not None:
            if _check_head(path, first) != world:
                yield number, None
                return
            continue
        try:
            yield number, decode_line(line)
        except f.StateRefused:
            yield number, None


def _check_head(path: Path, first: bytes) -> tuple[str, str]:
    head = msgspec.json.decode(first, type=dict[str, Any])
    with f.found_in(path):
        f.check_format(head.get("format"), head.get("written_by"))
    return str(head.get("world")), str(head.get("lineage", ""))
