"""Worlds as plain JSON documents, and back: rows, which all files share, the snapshot, and exports.

A snapshot is a whole world as one readable TinyDB file, a table for each kind of record. An export is
the same as one document; nothing in it is a secret, only digests. Nor is its seed, from which each
could be computed, unless it is asked for: what is made of it later is then drawn from another.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import Storage

from hosting_emulator import __version__
from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.scenario.document import without_seed
from hosting_emulator.storage.files import write_atomically
from hosting_emulator.storage.format import (
    ADVICE,
    FORMAT,
    SNAPSHOT,
    StateRefused,
    check_format,
    found_in,
)
from hosting_emulator.storage.integrity import check_integrity
from hosting_emulator.world import tables as t
from hosting_emulator.world.value import World, apply, empty_world

STATE_KIND = "hosting-emulator state"
Row = tuple[str, str, Any]
_HEADING, _CHECKSUM, _KEY, _VALUE = "heading", "crc32", "_key", "value"
#: So many rows are made ready between two looks at whether to go on: a few milliseconds.
_PIECE = 2_000


def rows_of(world: World) -> Iterator[Row]:
    """Walk all rows as (table, key, plain document): tables in order, keys sorted.

    Answers that expire stand behind the others, in the order they came: which is forgotten first is
    then the same after a restart.
    """
    for name in t.TABLES:
        table = world.tables[name]
        keys = sorted(table)
        if name == t.REMEMBERED.name:
            keys = [key for key in keys if table[key].expires_ms is None]
            keys += world.remembered_in_order()
        for key in keys:
            yield name, key, msgspec.to_builtins(table[key])


def read_row(table: str, key: str, document: Any) -> Any:
    """Return the record of a plain document. Raises StateRefused, naming the row."""
    known = t.TABLES.get(table)
    if known is None:
        raise StateRefused(f"there is no table {table!r}; tables are {', '.join(t.TABLES)}")
    try:
        return msgspec.convert(document, known.kind)
    except msgspec.ValidationError as error:
        raise StateRefused(f"table {table}, row {key}: {error}") from None


def _heading(world: World) -> dict[str, Any]:
    """Return what stands above the rows: format, who wrote it, world, seed, commit, moment."""
    return {
        "format": FORMAT,
        "written_by": __version__,
        "world": world.name,
        "seed": world.seed,
        "commit": world.commit,
        "at_ms": world.at_ms,
    }


class StoredCommit(msgspec.Struct, forbid_unknown_fields=True):
    """A commit as it is kept: its number, its moment, what made it and what it wrote."""

    number: int
    at_ms: int
    title: str
    writes: Mapping[str, Mapping[str, Any]]


class StoredState:
    """A world on its way from disk: heading and rows, which commits of the journal then change."""

    def __init__(self, meta: Mapping[str, Any], rows: Iterable[Row]) -> None:
        """Read plain rows. Raises StateRefused for one that is none, or what the heading lacks."""
        try:
            self.name, self.seed = str(meta["world"]), str(meta["seed"])
            self.commit, self.at_ms = int(meta["commit"]), int(meta["at_ms"])
            self.lineage = str(meta.get("lineage", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise StateRefused(f"the heading lacks or garbles {error}") from None
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in t.TABLES}
        for table, key, document in rows:
            record = read_row(table, key, document)
            self.tables[table][key] = record

    def follow(self, commit: StoredCommit) -> None:
        """Take in the next commit; one that is here already is passed over. Raises StateRefused."""
        if commit.number <= self.commit:
            return
        if commit.number != self.commit + 1:
            raise StateRefused(
                f"commit {commit.number} follows {self.commit}; what lay between is missing"
            )
        for name, rows in commit.writes.items():
            table = self.tables[name]
            for key, record in rows.items():
                table.pop(key, None)  # what is written again comes last, as in the live world
                if record is not None:
                    table[key] = record
        self.commit, self.at_ms = commit.number, max(self.at_ms, commit.at_ms)

    def world(self) -> World:
        """Return the world. Raises StateRefused when a part is missing."""
        for table in (t.CLOCK, t.ASSUMPTIONS, t.ORIGIN):
            if t.ONLY not in self.tables[table.name]:
                raise StateRefused(f"the table {table.name} has no row {t.ONLY!r}")
        # By their operations: their own ids may be in no order.
        deployments = sorted(
            self.tables[t.DEPLOYMENTS.name].items(),
            key=lambda row: (row[1].created_at, row[1].operation_id),
        )
        rows = {**self.tables, t.DEPLOYMENTS.name: dict(deployments)}
        empty = empty_world(self.name, self.seed)
        return apply(empty, rows, commit=self.commit, at_ms=self.at_ms)


_Rows = list[dict[str, Any]]


class SnapshotStopped(Exception):
    """A snapshot was not written because its writer was told to stop; the old one is as it was."""


class AtomicStorage(Storage):
    """A TinyDB storage whose file is replaced in one step. `check` may raise to leave the old one."""

    def __init__(self, path: Path, check: Callable[[], None]) -> None:
        self._path = path
        self._check = check

    def read(self) -> Any:
        """Return the file's tables; None when there is no file. Raises StateRefused."""
        try:
            found = self._path.read_bytes()
            return msgspec.json.decode(found, type=dict[str, dict[int, dict[str, Any]]])
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

    tables: dict[str, _Rows] = {name: [] for name in t.TABLES}
    for number, (name, key, document) in enumerate(rows_of(world)):
        if number % _PIECE == 0:
            check()
        fields = {_VALUE: document} if name == t.STREAMS.name else document
        tables[name].append({_KEY: key, **fields})
    above = {**_heading(world), "lineage": lineage}
    database = _database(path, check)
    database.drop_tables()
    database.table(_HEADING).insert({**above, _CHECKSUM: _checksum(above, tables)})
    for name, rows in tables.items():
        check()
        database.table(name).insert_multiple(rows)
    database.close()


def read_snapshot(path: Path, *, complain: Callable[[str], None] | None = None) -> StoredState:
    """Return the world of a snapshot so far. Raises StateRefused, naming file and row, and OSError.

    With `complain` whatever is there, though the checksum may not fit, which is then said.
    """
    with found_in(path, ADVICE):
        database = _database(path)
        tables: dict[str, _Rows] = {
            name: list(database.table(name).all()) for name in sorted(database.tables())
        }
        headings = tables.pop(_HEADING, [])
        if len(headings) != 1:
            raise StateRefused("it is not a snapshot: it has no heading")
        heading = dict(headings[0])
        written = heading.pop(_CHECKSUM, None)
        check_format(heading.get("format"), heading.get("written_by"))
    whole = written == _checksum(heading, tables)
    with found_in(path):
        if not whole and complain is None:
            raise StateRefused(
                f"the checksum does not fit, so the file was changed or damaged; {ADVICE} (to change "
                "a world by hand, use export and import)"
            )
        state = StoredState(heading, _plain(tables))
    if not whole and complain is not None:
        complain(
            f"{SNAPSHOT}: the checksum does not fit: something in it is not as it was written, and "
            "what is not known; it was taken as it is, as its rows fit together"
        )
    return state


def _plain(tables: dict[str, _Rows]) -> Iterator[Row]:
    for name, rows in tables.items():
        for row in rows:
            fields = {field: value for field, value in row.items() if field != _KEY}
            streams = name == t.STREAMS.name
            yield name, str(row.get(_KEY, "?")), fields.get(_VALUE) if streams else fields


def _checksum(above: dict[str, Any], tables: dict[str, _Rows]) -> str:
    """Return the checksum of all that a snapshot says, however it is laid out."""
    filled = sorted((name, rows) for name, rows in tables.items() if rows)
    return f"{crc32(msgspec.json.encode([above, filled])):08x}"


def export_state(world: World, *, with_seed: bool = False) -> dict[str, Any]:
    """Return the document of a world."""
    head = _heading(world)
    tables: dict[str, dict[str, Any]] = {name: {} for name in t.TABLES}
    for name, key, document in rows_of(world):
        tables[name][key] = document
    if not with_seed:
        del head["seed"]
        for origin in tables[t.ORIGIN.name].values():
            if origin.get("scenario") is not None:
                origin["scenario"] = without_seed(origin["scenario"])
    return {"kind": STATE_KIND, **head, "tables": tables}


def import_state(document: Any, name: str, after_commit: int, seed: str | None = None) -> World:
    """Return the world of a document, under another name and later than `after_commit`.

    It goes on with `seed`, or else the document's, or else a new one. Raises StateRefused, naming the
    table and the row that cannot be used.
    """
    if not isinstance(document, Mapping) or document.get("kind") != STATE_KIND:
        raise StateRefused(f'this is not an exported state: it has no "kind": "{STATE_KIND}"')
    tables = document.get("tables")
    if not isinstance(tables, Mapping):
        raise StateRefused('"tables" is missing or no object')
    for table, rows in tables.items():
        if not isinstance(rows, Mapping):
            raise StateRefused(f"table {table}: it must be an object of rows by key")
    check_format(document.get("format"), document.get("written_by"))
    seed = seed if seed is not None else document.get("seed", secrets.token_hex(16))
    if not isinstance(seed, str):
        raise StateRefused('"seed" is not text')
    state = StoredState(
        {
            "world": name,
            "seed": seed,
            "commit": max(after_commit, _number(document, "commit", 2**53)) + 1,
            "at_ms": _number(document, "at_ms", LATEST_MS),
        },
        ((table, str(key), row) for table, rows in tables.items() for key, row in rows.items()),
    )
    check_integrity(state.tables)
    return state.world()


def _number(document: Mapping[str, Any], name: str, most: int) -> int:
    number = document.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        raise StateRefused(f'"{name}" is missing or no whole number from 0 to {most}')
    return number
