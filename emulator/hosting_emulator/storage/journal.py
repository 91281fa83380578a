"""The journal: one line for each commit, appended before its answer leaves.

A line is `{"crc32":"…","commit":{…}}`, so the file is plain NDJSON and a damaged line is known. A
line that was cut off at the end of the file was never acknowledged: it is dropped, and said.
Anything else wrong is an error, because guessing would lose what was promised.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from hosting_emulator.engine.commits import Commit
from hosting_emulator.storage.documents import read_row
from hosting_emulator.storage.errors import StateRefused

_START, _MIDDLE, _END = b'{"crc32":"', b'","commit":', b"}"
_PAYLOAD = len(_START) + 8 + len(_MIDDLE)
_encode = msgspec.json.Encoder().encode


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    at_ms: int
    title: str
    writes: dict[str, dict[str, Any]]


def encode_line(commit: Commit) -> bytes:
    """Return the line of a commit, with its newline."""
    payload = _encode(
        {
            "number": commit.number,
            "at_ms": commit.at_ms,
            "title": commit.title,
            "writes": commit.writes,
        }
    )
    return b'{"crc32":"%08x","commit":%b}\n' % (crc32(payload), payload)


class Journal:
    """An open journal file. `size` is its length in bytes up to the last whole line.

    `broken` says why it takes no more lines, once it does not: its end is then unknown.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._open = threading.Lock()  # held while a thread syncs, so that nobody closes it then
        self.size = os.fstat(self._descriptor).st_size
        self.broken: str | None = None

    def append(self, line: bytes) -> None:
        """Append a line in one write. Raises OSError; the file is then as it was."""
        if self.broken is not None:
            raise OSError(errno.EIO, self.broken)
        try:
            written = os.write(self._descriptor, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            self._cut_back()
            raise
        self.size += len(line)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._descriptor, self.size)
        except OSError as error:
            self.broken = f"the journal {self.path} is damaged: {error.strerror}"

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
                self.broken = f"the journal {self.path} could not be synced: {error.strerror}"
                raise

    def close(self) -> None:
        """Close the file; closing it again is no error."""
        with self._open:
            if self._descriptor >= 0:
                # The system gives a closed descriptor's number to the next file or socket.
                descriptor, self._descriptor = self._descriptor, -1
                self.broken = self.broken or f"the journal {self.path} is closed"
                os.close(descriptor)


def read_journal(path: Path, *, last: bool) -> tuple[Iterator[Commit], str | None]:
    """Read a journal's commits, and what is to be said of it (None: nothing).

    `last` allows a torn line at the end, which is cut off the file. Raises StateRefused.
    """
    data = path.read_bytes()
    notice = None
    end = data.rfind(b"\n") + 1
    if end < len(data):
        tail = data[end:]
        if _payload(tail) is not None:
            with path.open("ab") as file:  # only its newline was lost: the commit is whole
                file.write(b"\n")
            data += b"\n"
        elif _payload(tail[:-1]) is not None:
            raise StateRefused(f"{path}: the last byte was changed or damaged; restore the file")
        elif last:
            notice = f"{path.name}: its last line was cut off and never acknowledged; dropped"
            os.truncate(path, end)
            data = data[:end]
        else:
            raise StateRefused(f"{path}: its last line is cut off, but later journals follow it")
    return (_commits(path, data), notice)


def _commits(path: Path, data: bytes) -> Iterator[Commit]:
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            commit = decode_line(line)
        except (msgspec.MsgspecError, StateRefused) as error:
            raise StateRefused(f"{path}, line {number}: {error}") from None
        if commit is None:
            raise StateRefused(
                f"{path}, line {number}: the checksum does not fit, so the line was changed or "
                "damaged; restore the file from a copy, or move the folder away to start afresh"
            )
        yield commit


def decode_line(line: bytes) -> Commit | None:
    """Return the commit of a line without its newline; None when its checksum does not fit.

    Raises MsgspecError or StateRefused for a whole line that is none of ours.
    """
    payload = _payload(line)
    return None if payload is None else _decode(payload)


def _payload(line: bytes) -> bytes | None:
    if not (line.startswith(_START) and line.endswith(_END)):
        return None
    payload = line[_PAYLOAD : -len(_END)]
    checksum = line[len(_START) : len(_START) + 8]
    if line[len(_START) + 8 : _PAYLOAD] != _MIDDLE or checksum != b"%08x" % crc32(payload):
        return None
    return payload


def _decode(payload: bytes) -> Commit:
    found = msgspec.json.decode(payload, type=_Line)
    writes = {
        table: {
            key: None if document is None else read_row(table, key, document)
            for key, document in rows.items()
        }
        for table, rows in found.writes.items()
    }
    return Commit(found.number, found.at_ms, found.title, writes)
