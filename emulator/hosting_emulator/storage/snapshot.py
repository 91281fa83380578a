"""The snapshot: a whole world as one readable TinyDB file, a table for each kind of record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import Storage

from hosting_emulator.storage.documents import (
    Row,
    check_format,
    heading,
    read_row,
    rows_of,
    world_of,
)
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.files import write_atomically
from hosting_emulator.world.tables import STREAMS, TABLES
from hosting_emulator.world.value import World

_HEADING = "heading"
_CHECKSUM = "crc32"
_KEY = "_key"
_VALUE = "value"


class AtomicStorage(Storage):
    """A TinyDB storage whose file is replaced in one step."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, dict[str, Any]] | None:
        """Return the file's tables; None when there is no file. Raises StateRefused."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            found: dict[str, dict[str, Any]] = msgspec.json.decode(
                data, type=dict[str, dict[str, Any]]
            )
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StateRefused(f"it is not a snapshot: {error}") from None
        return found

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Replace the file. Raises OSError, leaving the old file."""
        write_atomically(self._path, msgspec.json.format(msgspec.json.encode(data), indent=1))


def write_snapshot(path: Path, world: World) -> None:
    """Write a world. It is immutable, so this may run in a thread while the world moves on."""
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for name, key, document in rows_of(world):
        fields = {_VALUE: document} if name == STREAMS.name else document
        tables[name].append({_KEY: key, **fields})
    above = heading(world)
    cached: Any = CachingMiddleware(AtomicStorage)  # type: ignore[no-untyped-call]
    # Cached, so that the file is written once and not once a table.
    with TinyDB(path, storage=cached) as database:
        database.drop_tables()
        database.table(_HEADING).insert({**above, _CHECKSUM: _checksum(above, tables)})
        for name, documents in tables.items():
            database.table(name).insert_multiple(documents)


def read_snapshot(path: Path) -> World | None:
    """Read a world; None when there is no snapshot. Raises StateRefused, naming file and row."""
    if not path.exists():
        return None
    try:
        meta, tables = _read_tables(path)
        return world_of(meta, list(_rows(tables)))
    except StateRefused as refused:
        raise StateRefused(f"{path}: {refused}") from None


def _read_tables(path: Path) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    try:
        with TinyDB(path, storage=AtomicStorage) as database:
            headings = [dict(found) for found in database.table(_HEADING).all()]
            names = database.tables() - {_HEADING}
            tables = {name: [dict(row) for row in database.table(name).all()] for name in names}
    except (TypeError, ValueError) as error:
        raise StateRefused(f"it is not a snapshot: {error}") from None
    if len(headings) != 1:
        raise StateRefused("it is not a snapshot: it has no heading")
    above = headings[0]
    written = above.pop(_CHECKSUM, None)
    check_format(above)
    if written != _checksum(above, tables):
        raise StateRefused(
            "the checksum does not fit, so the file was changed or damaged; restore it from a copy "
            "(to change a world by hand, use export and import)"
        )
    return above, tables


def _checksum(above: dict[str, Any], tables: dict[str, list[dict[str, Any]]]) -> str:
    """Return the checksum of all that a snapshot says, however it is laid out."""
    filled = sorted((name, rows) for name, rows in tables.items() if rows)
    return f"{crc32(msgspec.json.encode([above, filled])):08x}"


def _rows(tables: dict[str, list[dict[str, Any]]]) -> Iterator[Row]:
    for name, documents in tables.items():
        for fields in documents:
            key = str(fields.pop(_KEY, "?"))
            document = fields.get(_VALUE) if name == STREAMS.name else fields
            yield name, key, read_row(name, key, document)
