"""The snapshot: a whole world as one readable TinyDB file, a table for each kind of record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import Storage

from hosting_emulator.storage.documents import heading, read_row, rows_of, world_of
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.files import write_atomically
from hosting_emulator.world.tables import STREAMS, TABLES
from hosting_emulator.world.value import World

_HEADING = "heading"
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
    cached: Any = CachingMiddleware(AtomicStorage)  # type: ignore[no-untyped-call]
    # Cached, so that the file is written once and not once a table.
    with TinyDB(path, storage=cached) as database:
        database.drop_tables()
        database.table(_HEADING).insert(heading(world))
        for name, documents in tables.items():
            database.table(name).insert_multiple(documents)


def read_snapshot(path: Path) -> World | None:
    """Read a world; None when there is no snapshot. Raises StateRefused, naming file and row."""
    try:
        with TinyDB(path, storage=AtomicStorage) as database:
            headings = database.table(_HEADING).all()
            if not headings:
                return None
            found = {name: database.table(name).all() for name in database.tables() - {_HEADING}}
        rows = []
        for name, documents in found.items():
            for document in documents:
                fields = dict(document)
                key = str(fields.pop(_KEY, "?"))
                plain = fields.get(_VALUE) if name == STREAMS.name else fields
                rows.append((name, key, read_row(name, key, plain)))
        return world_of(headings[0], rows)
    except StateRefused as refused:
        raise StateRefused(f"{path}: {refused}") from None
