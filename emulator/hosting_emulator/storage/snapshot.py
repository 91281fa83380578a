"""The snapshot: a whole world as one readable TinyDB file, a table for each kind of record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import Storage

from hosting_emulator.storage.documents import Stored, heading, read_row, stored_rows
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.files import write_atomically
from hosting_emulator.storage.migrations import Tables, check_format, migrate_state
from hosting_emulator.world.tables import STREAMS, TABLES
from hosting_emulator.world.value import World

_HEADING = "heading"
_CHECKSUM = "crc32"
_KEY = "_key"
_VALUE = "value"
#: So many rows are written between two looks at whether to go on: a few milliseconds.
_PIECE = 2_000
Database = dict[str, dict[str, Any]]


class GivenUp(Exception):
    """A snapshot was not written because its writer was told to stop; the old one is as it was."""


class AtomicStorage(Storage):
    """A TinyDB storage whose file is replaced in one step. `check` may raise to leave the old one."""

    def __init__(self, path: Path, check: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._check = check

    def read(self) -> Database | None:
        """Return the file's tables; None when there is no file. Raises StateRefused."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            found: Database = msgspec.json.decode(data, type=Database)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StateRefused(f"it is not a snapshot: {error}") from None
        return found

    def write(self, data: Database) -> None:
        """Replace the file. Raises OSError, leaving the old file."""
        write_atomically(self._path, self._pieces(data))

    def _pieces(self, data: Database) -> Iterator[bytes]:
        """Give the file as readable JSON, piece by piece: a large world is never there twice."""
        for number, (name, rows) in enumerate(data.items()):
            yield b"{\n" if number == 0 else b",\n"
            yield b" %b: {" % msgspec.json.encode(name)
            left, separator = iter(rows.items()), b"\n"
            while piece := dict(islice(left, _PIECE)):
                self._check()
                # Two levels down, as the rows of a table stand in the whole.
                text = msgspec.json.format(msgspec.json.encode([piece]), indent=1)
                yield separator + text[len(b"[\n {\n") : -len(b"\n }\n]")]
                separator = b",\n"
            yield b"\n }" if rows else b"}"
        yield b"\n}"


def write_snapshot(path: Path, world: World, stopped: Callable[[], bool] = lambda: False) -> None:
    """Write a world. It is immutable, so this may run in a thread while the world moves on.

    Raises GivenUp soon after `stopped` says so, and OSError; the old file is then as it was.
    """

    def check() -> None:
        if stopped():
            raise GivenUp

    above, tables = heading(world), _documents(world, check)
    cached: Any = CachingMiddleware(AtomicStorage)  # type: ignore[no-untyped-call]
    # Cached, so that the file is written once and not once a table.
    database = TinyDB(path, check, storage=cached)
    database.drop_tables()
    database.table(_HEADING).insert({**above, _CHECKSUM: _checksum(above, tables)})
    for name, documents in tables.items():
        check()
        database.table(name).insert_multiple(_checked(documents, check))
    database.close()


def _documents(world: World, check: Callable[[], None]) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for number, (name, key, document) in enumerate(stored_rows(world)):
        if number % _PIECE == 0:
            check()
        fields = {_VALUE: document} if name == STREAMS.name else document
        tables[name].append({_KEY: key, **fields})
    return tables


def _checked(
    documents: list[dict[str, Any]], check: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    for number, document in enumerate(documents):
        if number % _PIECE == 0:
            check()
        yield document


class Snapshot:
    """A snapshot as read from its file, in our format: its heading, and rows as plain documents.

    `format` is the one it was written in; `damage` says what is wrong, if the checksum does not fit.
    """

    def __init__(self, path: Path) -> None:
        """Read a file. Raises StateRefused when it is no snapshot of ours, OSError."""
        self.path = path
        try:
            self._read(AtomicStorage(path).read() or {})
        except StateRefused as refused:
            raise type(refused)(f"{path}: {refused}") from None

    def _read(self, database: Database) -> None:
        headings = list(database.pop(_HEADING, {}).values())
        if len(headings) != 1 or not isinstance(headings[0], dict):
            raise StateRefused("it is not a snapshot: it has no heading")
        self.heading: dict[str, Any] = headings[0]
        written = self.heading.pop(_CHECKSUM, None)
        self.format = check_format(self.heading.get("format"), self.heading.get("written_by"))
        documents = {name: list(rows.values()) for name, rows in database.items()}
        self.damage = None if written == _checksum(self.heading, documents) else _DAMAGE
        self._documents = documents

    def stored(self) -> Stored:
        """Return the world so far. Raises StateRefused, naming file and row."""
        try:
            if self.damage is not None:
                raise StateRefused(self.damage)
            return self.whatever_is_there()
        except StateRefused as refused:
            raise StateRefused(f"{self.path}: {refused}") from None

    def whatever_is_there(self) -> Stored:
        """Return the world so far, though the checksum may not fit. Raises StateRefused."""
        tables: Tables = {
            name: dict(_row(name, fields) for fields in documents)
            for name, documents in self._documents.items()
        }
        return Stored(
            self.heading,
            (
                (name, key, read_row(name, key, document))
                for name, rows in migrate_state(tables, self.format).items()
                for key, document in rows.items()
            ),
        )


def read_snapshot(path: Path) -> World | None:
    """Read a world; None when there is no snapshot. Raises StateRefused, naming file and row."""
    return Snapshot(path).stored().world() if path.exists() else None


def _checksum(above: dict[str, Any], tables: dict[str, list[dict[str, Any]]]) -> str:
    """Return the checksum of all that a snapshot says, however it is laid out."""
    filled = sorted((name, rows) for name, rows in tables.items() if rows)
    return f"{crc32(msgspec.json.encode([above, filled])):08x}"


def _row(name: str, fields: Any) -> tuple[str, Any]:
    if not isinstance(fields, dict):
        raise StateRefused(f"table {name}: {fields!r} is no row")
    document = dict(fields)
    key = str(document.pop(_KEY, "?"))
    return key, document.get(_VALUE) if name == STREAMS.name else document


_DAMAGE = (
    "the checksum does not fit, so the file was changed or damaged; restore it from a copy, start "
    "with --salvage to go on with what can be read, or move the folder away to start afresh (to "
    "change a world by hand, use export and import)"
)
