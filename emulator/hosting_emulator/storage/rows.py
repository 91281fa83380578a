"""Converts a world to rows of plain JSON documents and back, for snapshots, journals and exports.

This module must not know the layout of rows in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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

#: A row: the name of its table, its key and its document.
Row = tuple[str, str, Any]


def rows_of(world: World) -> Iterator[Row]:
    """Yield all rows, in the order of the tables and sorted by key.

    Remembered responses that expire come after the others, in the order in which they were stored. Thus
    the same response is evicted first after a restart.
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
    """Return the record for a plain document. Raises StateRefused, whose message names the row.

    Raises FormatRefused if the row has a field that this build does not know.
    """
    declaration = TABLES.get(table)
    if declaration is None:
        raise StateRefused(f"there is no table {table!r}; tables are {', '.join(TABLES)}")
    try:
        return convert(document, declaration.kind)
    except msgspec.ValidationError as error:
        message = f"table {table}, row {key}: {error}"
        # A later build with the same format may have stored more fields.
        if "unknown field" in message:
            raise FormatRefused(f"{message}; use the hosting-emulator that wrote it") from None
        raise StateRefused(message) from None


def heading_of(world: World) -> dict[str, Any]:
    """Return a file's heading, which describes the world as a whole."""
    return {
        "format": FORMAT,
        "written_by": FULL_VERSION,
        "world": world.name,
        "seed": world.seed,
        "commit": world.commit,
        "at_ms": world.at_ms,
    }


class StoredCommit(msgspec.Struct, forbid_unknown_fields=True):
    """A commit in the journal: its number, its world time, its title and the rows that it wrote."""

    number: int
    at_ms: int
    title: str
    writes: Mapping[str, Mapping[str, Any]]


class StoredState:
    """A world that is being read from disk: its heading and rows, to which commits are applied."""

    def __init__(self, meta: Mapping[str, Any], rows: Iterable[Row]) -> None:
        """Read rows. Raises StateRefused for an invalid row and for an incomplete heading."""
        try:
            self.name = str(meta["world"])
            self.seed = str(meta["seed"])
            self.commit = int(meta["commit"])
            self.at_ms = int(meta["at_ms"])
            self.lineage = str(meta.get("lineage", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise StateRefused(f"the heading has no valid {error}") from None
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
        for table, key, document in rows:
            record = read_row(table, key, document)
            self.tables[table][key] = record

    def apply(self, commit: StoredCommit) -> None:
        """Apply the next commit, or skip it if it was already applied. Raises StateRefused."""
        if commit.number <= self.commit:
            return
        if commit.number != self.commit + 1:
            raise StateRefused(
                f"commit {commit.number} follows {self.commit}; the commits in between are missing"
            )
        for name, rows in commit.writes.items():
            table = self.tables[name]
            for key, record in rows.items():
                table.pop(key, None)  # move a changed row to the end, as in the running world
                if record is not None:
                    table[key] = record
        self.commit = commit.number
        self.at_ms = max(self.at_ms, commit.at_ms)

    def world(self) -> World:
        """Return the world. Raises StateRefused if a part is missing."""
        for table in (CLOCK, ASSUMPTIONS, ORIGIN):
            if SINGLETON_KEY not in self.tables[table.name]:
                raise StateRefused(f"the table {table.name} has no row {SINGLETON_KEY!r}")
        # Sort deployments by their operations, because their own ids may be in any order.
        deployments = sorted(
            self.tables[DEPLOYMENTS.name].items(),
            key=lambda row: (row[1].created_at, row[1].operation_id),
        )
        rows = {**self.tables, DEPLOYMENTS.name: dict(deployments)}
        empty = empty_world(self.name, self.seed)
        return apply_writes(empty, rows, commit=self.commit, at_ms=self.at_ms)
