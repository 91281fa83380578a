"""Converts a world to rows of plain JSON documents and back again, for snapshots, journals and
exports.

How the rows are laid out in a file is up to the modules that write snapshots, journals and exports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.contract.conversion import convert
from hosting_emulator.storage.format import FORMAT, FormatRefused, StateRefused
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    CLOCK,
    DEPLOYMENTS,
    ORIGIN,
    REMEMBERED,
    SINGLETON_KEY,
    TABLES,
)
from hosting_emulator.world.value import World, empty_world
from hosting_emulator.world.value import apply as apply_writes

FieldValue = TypeVar("FieldValue", str, int)
#: A row: the name of its table, its key and its document.
Row = tuple[str, str, Any]


def rows_of(world: World) -> Iterator[Row]:
    """Yield all rows in table order, sorted by key within each table.

    Remembered responses that can expire are yielded last, in the order in which they were stored.
    This ensures that a restart does not change which response is evicted first.
    """
    for name in TABLES:
        table = world.tables[name]
        keys = sorted(table)
        if name == REMEMBERED.name:
            keys = [key for key in keys if table[key].expires_ms is None]
            keys += world.remembered_in_order()
        for key in keys:
            yield name, key, msgspec.to_builtins(table[key])


def read_row(table: str, key: str, document: Any) -> Any:
    """Convert a row's JSON document to a record.

    If the document is invalid, raises StateRefused with a message that names the row. If the
    document has a field that this build does not know, raises FormatRefused.
    """
    declaration = TABLES.get(table)
    if declaration is None:
        raise StateRefused(f"there is no table {table!r}; the tables are {', '.join(TABLES)}")
    try:
        return convert(document, declaration.kind)
    except msgspec.ValidationError as error:
        message = f"table {table}, row {key}: {error}"
        # An unknown field was probably stored by a later build, so report a different format.
        if "unknown field" in message:
            raise FormatRefused(
                f"{message}; use the hosting-emulator that wrote the file"
            ) from None
        raise StateRefused(message) from None


def heading_of(world: World) -> dict[str, Any]:
    """Return a file's heading: its format, the version that wrote it, and the world's name, seed,
    commit and time.
    """
    return {
        "format": FORMAT,
        "written_by": FULL_VERSION,
        "world": world.name,
        "seed": world.seed,
        "commit": world.commit,
        "at_ms": world.at_ms,
    }


def _heading_field(heading: Mapping[str, Any], name: str, kind: type[FieldValue]) -> FieldValue:
    value = heading.get(name)
    if not isinstance(value, kind):
        raise StateRefused(f"the heading has no valid {name!r}")
    return value


class StoredCommit(msgspec.Struct, forbid_unknown_fields=True):
    """A commit in the journal: its number, world time and title, and the rows that it wrote."""

    number: int
    at_ms: int
    title: str
    writes: Mapping[str, Mapping[str, Any]]


class StoredState:
    """The state of a world while it is being read from files. `apply` adds the commits from a
    journal.
    """

    def __init__(self, meta: Mapping[str, Any], rows: Iterable[Row]) -> None:
        """Create the state from a file's heading and rows. Raises StateRefused if the heading or a
        row is invalid.
        """
        self.name = _heading_field(meta, "world", str)
        self.seed = _heading_field(meta, "seed", str)
        self.commit = _heading_field(meta, "commit", int)
        self.at_ms = _heading_field(meta, "at_ms", int)
        self.lineage = str(meta.get("lineage", ""))
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
        for table, key, document in rows:
            record = read_row(table, key, document)
            self.tables[table][key] = record

    def apply(self, commit: StoredCommit) -> None:
        """Apply the next commit. Do nothing if the commit has already been applied.

        Raises StateRefused if earlier commits are missing.
        """
        if commit.number <= self.commit:
            return
        if commit.number != self.commit + 1:
            raise StateRefused(
                f"commit {commit.number} follows {self.commit}; the commits in between are missing"
            )
        for name, rows in commit.writes.items():
            table = self.tables[name]
            for key, record in rows.items():
                table.pop(key, None)  # move a changed row to the end, as happens in a running world
                if record is not None:
                    table[key] = record
        self.commit = commit.number
        self.at_ms = max(self.at_ms, commit.at_ms)

    def world(self) -> World:
        """Return the state as a World.

        Raises StateRefused if the clock, the assumptions or the world's source is missing.
        """
        for table in (CLOCK, ASSUMPTIONS, ORIGIN):
            if SINGLETON_KEY not in self.tables[table.name]:
                raise StateRefused(f"the table {table.name} has no row {SINGLETON_KEY!r}")
        # Sort deployments by operation, because their own ids may be in any order.
        deployments = sorted(
            self.tables[DEPLOYMENTS.name].items(),
            key=lambda row: (row[1].created_at, row[1].operation_id),
        )
        rows = {**self.tables, DEPLOYMENTS.name: dict(deployments)}
        empty = empty_world(self.name, self.seed)
        return apply_writes(empty, rows, commit=self.commit, at_ms=self.at_ms)
