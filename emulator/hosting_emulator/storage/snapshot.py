"""The snapshot: a complete world in one human-readable TinyDB file, with a table for each kind of
record.

TinyDB reads or writes the whole file in each operation, so no request may ever wait for it. The
commits made between two snapshots are stored in the journal (see the `journal` module).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import Storage

from hosting_emulator.storage.files import write_atomically
from hosting_emulator.storage.format import ADVICE, SNAPSHOT, StateRefused, check_format, locate
from hosting_emulator.storage.rows import Row, StoredState, heading_of, rows_of
from hosting_emulator.world.tables import STREAMS, TABLES
from hosting_emulator.world.value import World

_HEADING = "heading"
_CHECKSUM = "crc32"
_KEY = "_key"
_VALUE = "value"
#: `stopped` is called each time this many rows have been converted, which takes a few milliseconds.
_ROWS_BETWEEN_CHECKS = 2_000

_Rows = list[dict[str, Any]]


class SnapshotStopped(Exception):
    """Raised if writing a snapshot was stopped. The old snapshot is unchanged."""


class AtomicStorage(Storage):
    """A TinyDB storage that replaces its file atomically.

    `check` is called before each table is written. If `check` raises an exception, the old file is
    kept.
    """

    def __init__(self, path: Path, check: Callable[[], None]) -> None:
        self._path = path
        self._check = check

    def read(self) -> Any:
        """Return the file's tables.

        Raises StateRefused if the file is not a snapshot. Raises OSError if it cannot be read.
        """
        content = self._path.read_bytes()
        try:
            return msgspec.json.decode(content, type=dict[str, dict[int, dict[str, Any]]])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StateRefused(f"the file is not a snapshot: {error}") from None

    def write(self, data: Any) -> None:
        """Replace the file. On failure, raises OSError and leaves the old file unchanged."""
        write_atomically(self._path, self._pieces(data))

    def _pieces(self, data: dict[str, Any]) -> Iterator[bytes]:
        """Yield the file's content table by table, so that it is never in memory as a whole."""
        before = b"{\n"
        for name, rows in data.items():
            self._check()
            text = msgspec.json.format(msgspec.json.encode({name: rows}), indent=1)
            yield before + text[len(b"{\n") : -len(b"\n}")]
            before = b",\n"
        yield b"\n}"


def _database(path: Path, check: Callable[[], None] = lambda: None) -> TinyDB:
    # Use a cache, because TinyDB reads or writes the whole file in each operation.
    storage: Any = CachingMiddleware(AtomicStorage)  # type: ignore[no-untyped-call]
    return TinyDB(path, check, storage=storage)


def write_snapshot(
    path: Path, world: World, lineage: str = "", stopped: Callable[[], bool] = lambda: False
) -> None:
    """Write a world to a file. The world is immutable, so this function may run in a thread.

    Raises SnapshotStopped soon after `stopped` starts to return True. Raises OSError if the file
    cannot be written. In both cases, the old file remains unchanged.
    """

    def check() -> None:
        if stopped():
            raise SnapshotStopped

    tables: dict[str, _Rows] = {name: [] for name in TABLES}
    for number, (name, key, document) in enumerate(rows_of(world)):
        if number % _ROWS_BETWEEN_CHECKS == 0:
            check()
        fields = document
        if name == STREAMS.name:
            fields = {_VALUE: document}
        tables[name].append({_KEY: key, **fields})
    heading = {**heading_of(world), "lineage": lineage}
    database = _database(path, check)
    database.drop_tables()
    database.table(_HEADING).insert({**heading, _CHECKSUM: _checksum(heading, tables)})
    for name, rows in tables.items():
        check()
        database.table(name).insert_multiple(rows)
    database.close()


def read_snapshot(path: Path, *, complain: Callable[[str], None] | None = None) -> StoredState:
    """Read the stored state from a snapshot file.

    If the snapshot is invalid, raises StateRefused with a message that names the file and row.
    Raises OSError if the file cannot be read.

    With `complain`, a wrong checksum is only reported, and the rows are used anyway.
    """
    with locate(path, ADVICE):
        database = _database(path)
        tables: dict[str, _Rows] = {
            name: list(database.table(name).all()) for name in sorted(database.tables())
        }
        headings = tables.pop(_HEADING, [])
        if len(headings) != 1:
            raise StateRefused("the file is not a snapshot: it has no heading")
        heading = dict(headings[0])
        checksum = heading.pop(_CHECKSUM, None)
        check_format(heading.get("format"), heading.get("written_by"))
    is_intact = checksum == _checksum(heading, tables)
    with locate(path):
        if not is_intact and complain is None:
            raise StateRefused(
                f"its checksum is wrong, so the file was changed or damaged; {ADVICE} (to change "
                "a world by hand, use export and import)"
            )
        state = StoredState(heading, _rows_of(tables))
    if not is_intact and complain is not None:
        complain(
            f"{SNAPSHOT}: its checksum is wrong, so the file was changed or damaged; its rows are "
            "used anyway"
        )
    return state


def _rows_of(tables: dict[str, _Rows]) -> Iterator[Row]:
    for name, documents in tables.items():
        for document in documents:
            key = str(document.pop(_KEY, "?"))
            if name == STREAMS.name:
                yield name, key, document.get(_VALUE)
            else:
                yield name, key, document


def _checksum(heading: dict[str, Any], tables: dict[str, _Rows]) -> str:
    """Return the checksum of a snapshot's content. It does not depend on how the file is laid out."""
    filled_tables = sorted((name, rows) for name, rows in tables.items() if rows)
    return f"{crc32(msgspec.json.encode([heading, filled_tables])):08x}"
