"""A world's journal, which contains one line with a checksum for each commit.

A commit's line is appended before the response is sent.

The first line of a journal contains the journal's format number. If the last line is incomplete,
its commit was never acknowledged, so the line is dropped and reported. Any other damage is an
error, because a repair could lose acknowledged commits.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.contract.conversion import decode_json
from hosting_emulator.engine.history import Commit
from hosting_emulator.storage.files import open_private, write_atomically
from hosting_emulator.storage.format import (
    ADVICE,
    FORMAT,
    StateRefused,
    check_format,
    checked_line,
    locate,
    payload_of,
)
from hosting_emulator.storage.rows import StoredCommit, read_row

_HEAD = b"journal"
_COMMIT = b"commit"
_ADVICE = ADVICE.replace("restore it", "restore the file")
_encode = msgspec.json.Encoder().encode


def first_line(world: str, lineage: str = "") -> bytes:
    """Return the first line of a world's journal. The layout of this line must never change."""
    head = {"format": FORMAT, "written_by": FULL_VERSION, "world": world, "lineage": lineage}
    return checked_line(_HEAD, msgspec.json.encode(head))


def encode_line(commit: Commit) -> bytes:
    """Return the journal line for a commit, including the newline."""
    line = StoredCommit(commit.world.commit, commit.world.at_ms, commit.title, commit.writes)
    return checked_line(_COMMIT, _encode(line))


def decode_line(line: bytes) -> StoredCommit:
    """Return the commit in a journal line. `line` must not include the newline.

    Raises StateRefused if the line is damaged or contains no valid commit.
    """
    payload = payload_of(line, _COMMIT)
    if payload is None:
        raise StateRefused("its checksum is wrong, so the line was changed or damaged")
    try:
        commit = decode_json(payload, StoredCommit)
    except msgspec.MsgspecError as error:
        raise StateRefused(str(error)) from None
    commit.writes = {table: _read_rows(table, rows) for table, rows in commit.writes.items()}
    return commit


def _read_rows(table: str, documents: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a table's JSON documents to records, by key.

    Rows that the commit deleted become None.
    """
    rows: dict[str, Any] = {}
    for key, document in documents.items():
        rows[key] = None
        if document is not None:
            rows[key] = read_row(table, key, document)
    return rows


class Journal:
    """An open journal file. `size` is its length in bytes, up to the end of the last complete line.

    `broken` is the reason why the journal no longer accepts lines, or None if it does. A broken
    journal may end with an incomplete line. `unsynced` describes a failed sync, or is None if no
    sync has failed. After a failed sync, earlier lines may be lost, and this cannot be detected.
    """

    def __init__(self, path: Path, world: str, lineage: str = "") -> None:
        self.path = path
        self._first_line = first_line(world, lineage)
        self._descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
        # A thread holds this lock while it syncs, so that `close` waits for it.
        self._open = threading.Lock()
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
        """Whether the journal contains no commits."""
        return self.size <= len(self._first_line)

    @property
    def is_deleted(self) -> bool:
        """Whether the open file has been deleted. Its lines are then lost when it is closed."""
        return self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink == 0

    def condition(self) -> Literal["intact", "incomplete", "replaced"]:
        """Return how the file at the journal's path differs from the open file. Raises OSError.

        A deleted or shortened file is `incomplete`.
        """
        if self._descriptor < 0:
            return "intact"  # the journal is closed, and the next append will start a new one
        try:
            at_path = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return "incomplete"
        if not os.path.samestat(at_path, os.fstat(self._descriptor)):
            return "replaced"
        if at_path.st_size < self.size:
            return "incomplete"
        return "intact"

    def append(self, line: bytes) -> None:
        """Append a line in one write. On failure, removes a partial line and raises OSError."""
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
        """Sync the file, so that all lines survive a crash of the machine. Raises OSError.

        A closed journal needs no sync, because a synced snapshot has replaced it.
        """
        with self._open:
            if self._descriptor < 0:
                return
            # After a failed sync, refuse to sync again: another sync would succeed although lines
            # may be lost.
            if self.broken is not None:
                raise OSError(errno.EIO, self.broken)
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                self.unsynced = f"the journal {self.path} could not be synced: {error.strerror}"
                self.broken = self.unsynced
                raise

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        with self._open:
            if self._descriptor >= 0:
                # Clear the attribute first, because the operating system may reuse the descriptor
                # for another file or socket.
                descriptor = self._descriptor
                self._descriptor = -1
                self.broken = self.broken or f"the journal {self.path} is closed"
                os.close(descriptor)


def begin_journal(path: Path, world: str, lineage: str, *, sync: bool) -> Journal:
    """Atomically replace the journal at a path with an empty one, and open it. Raises OSError."""
    write_atomically(path, first_line(world, lineage), sync=sync)
    return Journal(path, world, lineage)


class JournalLines:
    """The lines of a journal file. `notice` describes the line that was dropped, or is None if none
    was.
    """

    def __init__(self, path: Path, *, last: bool) -> None:
        """Read a journal file. Raises StateRefused if the file is damaged. Raises OSError.

        With `last`, an incomplete last line is dropped. Otherwise it counts as damage.
        """
        self.path = path
        self.notice: str | None = None
        data = path.read_bytes()
        self._end = len(data)  # the length without an incomplete last line
        self._ends_whole = True
        *lines, tail = data.split(b"\n")
        if tail:
            with locate(path, _ADVICE):
                self._read_tail(tail, lines, last=last)
        #: The name and lineage of the journal's world, or None if the first line is missing or
        #: invalid.
        self.world: tuple[str, str] | None = None
        self._first_number = 1
        head = payload_of(lines[0], _HEAD) if lines else None
        if head is not None:
            self.world = _check_head(path, head)
            self._first_number = 2
        #: The lines that should contain commits.
        self.lines = lines[self._first_number - 1 :]

    def _read_tail(self, tail: bytes, lines: list[bytes], *, last: bool) -> None:
        kind = _COMMIT
        if not lines and payload_of(tail, _HEAD) is not None:
            kind = _HEAD
        if payload_of(tail, kind) is not None:
            lines.append(tail)  # the line is complete except for its newline
            self._ends_whole = False
        elif payload_of(tail[:-1], kind) is not None:
            raise StateRefused("the last byte was changed or damaged")
        elif not last:
            raise StateRefused("its last line is incomplete, but there are later journals")
        else:
            name = self.path.name
            self.notice = (
                f"{name}: the last line is incomplete and was never acknowledged, so it was dropped"
            )
            self._end -= len(tail)

    def repair(self) -> None:
        """Add a missing final newline, or remove an incomplete last line. Raises OSError."""
        if not self._ends_whole:
            with self.path.open("ab") as file:
                file.write(b"\n")
        elif self.notice is not None:
            os.truncate(self.path, self._end)

    def commits(self) -> Iterator[StoredCommit]:
        """Yield the commits. Raises StateRefused at the first damaged line."""
        for number, line in enumerate(self.lines, self._first_number):
            try:
                yield decode_line(line)
            except StateRefused as refused:
                where = f"{self.path}, line {number}"
                raise StateRefused(f"{where}: {refused}; {_ADVICE}") from None


def read_leniently(path: Path, world: tuple[str, str]) -> Iterator[tuple[int, StoredCommit | None]]:
    """Yield each line's number and commit. For a damaged line, the commit is None.

    For a journal that belongs to another world, yields only the number of the first line, with
    None.
    """
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    for number, line in enumerate(lines, 1):
        head = payload_of(line, _HEAD) if number == 1 else None
        if head is not None:
            if _check_head(path, head) != world:
                yield number, None
                return
            continue
        try:
            yield number, decode_line(line)
        except StateRefused:
            yield number, None


def _check_head(path: Path, payload: bytes) -> tuple[str, str]:
    head = msgspec.json.decode(payload, type=dict[str, Any])
    with locate(path):
        check_format(head.get("format"), head.get("written_by"))
    return str(head.get("world")), str(head.get("lineage", ""))
