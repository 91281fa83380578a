"""The snapshot: a whole world as one readable TinyDB file, a table for each kind of record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import Storage

from hosting_emulator.storage.documents import StoredState, heading, read_row, rows_of
from hosting_emulator.storage.files import write_atomically
from hosting_emulator.storage.format import StateRefused, check_format, found_in
from hosting_emulator.world.tables import STREAMS, TABLES
from hosting_emulator.world.value import World

_HEADING = "heading"
_CHECKSUM = "crc32"
_KEY = "_key"
_VALUE = "value"
#: So many rows are made ready between two looks at whether to go on: a few milliseconds.
_PIECE = 2_000
Rows = list[dict[str, Any]]
_Database = dict[str, dict[int, dict[str, Any]]]


class SnapshotStopped(Exception):
    """A snapshot was not written because its writer was told to stop; the old one is as it was."""


class AtomicStorage(Storage):
    """A TinyDB storage whose file is replaced in one step. `check` may raise to leave the old one."""

    def __init__(self, path: Path, check: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._check = check

    def read(self) -> Any:
        """Return the file's tables; None when there is no file. Raises StateRefused."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Database)
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StateRefused(f"it is not a snapshot: {error}") from None

    def write(self, data: Any) -> None:
        """Replace the file. Raises OSError, leaving the old file."""
        write_atomically(self._path, self._pieces(data))

    def _pieces(self, data: dict[str, Any]) -> Iterator[bytes]:
        """Give the file table by table: the text of a large world is never there whole."""
        before = b"{\n"
        for name, rows in data.items():
            self._check()
            text = msgspec.json.format(msgspec.json.encode({name: rows}), indent=1)
            yield before + text[len(b"{\n") : -len(b"\n}")]
            before = b",\n"
        yield b"\n}"


def _database(path: Path, check: Callable[[], None] = lambda: None) -> TinyDB:
    # Cached, because TinyDB reads and writes the whole file at each operation.
    storage: Any = CachingMiddleware(AtomicStorage)  # type: ignore[no-untyped-call]
    return TinyDB(path, check, storage=storage)


def write_snapshot(
    path: Path, world: World, lineage: str = "", stopped: Callable[[], bool] = lambda: False
) -> None:
    """Write a world. It is immutable, so this may run in a thread while the world moves on.

    Raises SnapshotStopped soon after `stopped` says so, and OSError; the old file is then as it was.
    """

    def check() -> None:
        if stopped():
            raise SnapshotStopped

    tables: dict[str, Rows] = {name: [] for name in TABLES}
    for number, (name, key, document) in enumerate(rows_of(world)):
        if number % _PIECE == 0:
            check()
        fields = {_VALUE: document} if name == STREAMS.name else document
        tables[name].append({_KEY: key, **fields})
    above = {**heading(world), "lineage": lineage}
    database = _database(path, check)
    database.drop_tables()
    database.table(_HEADING).insert({**above, _CHECKSUM: _checksum(above, tables)})
    for name, rows in tables.items():
        check()
        database.table(name).insert_multiple(rows)
    database.close()


class SnapshotFile:
    """A snapshot as read from its file: its heading, and rows as plain documents.

    `damage` says what is wrong, if the checksum does not fit.
    """

    def __init__(self, path: Path) -> None:
        """Read a file. Raises StateRefused when it is no snapshot of ours, OSError."""
        self.path = path
        with found_in(path, _ADVICE):
            database = _database(path)
            self._rows: dict[str, Rows] = {
                name: list(database.table(name).all()) for name in sorted(database.tables())
            }
            headings = self._rows.pop(_HEADING, [])
            if len(headings) != 1:
                raise StateRefused("it is not a snapshot: it has no heading")
            self.heading = dict(headings[0])
            written = self.heading.pop(_CHECKSUM, None)
            check_format(self.heading.get("format"), self.heading.get("written_by"))
        self.damage = None if written == _checksum(self.heading, self._rows) else _DAMAGE

    def state(self, *, damaged: bool = False) -> StoredState:
        """Return the world so far; with `damaged` whatever is there, though the checksum may not fit.

        Raises StateRefused, naming file and row.
        """
        with found_in(self.path):
            if self.damage is not None and not damaged:
                raise StateRefused(self.damage)
            return StoredState(
                self.heading,
                (_row(name, fields) for name, rows in self._rows.items() for fields in rows),
            )


def _row(name: str, fields: dict[str, Any]) -> tuple[str, str, Any]:
    document = dict(fields)
    key = str(document.pop(_KEY, "?"))
    return (
        name,
        key,
        read_row(name, key, document.get(_VALUE) if name == STREAMS.name else document),
    )


def _checksum(above: dict[str, Any], tables: dict[str, Rows]) -> str:
    """Return the checksum of all that a snapshot says, however it is laid out."""
    filled = sorted((name, rows) for name, rows in tables.items() if rows)
    return f"{crc32(msgspec.json.encode([above, filled])):08x}"


_ADVICE = (
    "restore it from a copy, start with --salvage to go on with what can be read, or move the folder "
    "away to start afresh"
)
_DAMAGE = (
    f"the checksum does not fit, so the file was changed or damaged; {_ADVICE} (to change a world by "
    "hand, use export and import)"
)
