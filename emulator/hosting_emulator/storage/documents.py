"""Rows as plain JSON documents, and back: shared by snapshots, exports and the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from hosting_emulator import __version__
from hosting_emulator.engine.commits import Commit
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.migrations import FORMAT
from hosting_emulator.world.indexes import remembered_in_order
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    CLOCK,
    DEPLOYMENTS,
    ONLY,
    ORIGIN,
    REMEMBERED,
    TABLES,
)
from hosting_emulator.world.value import World, bare_world, rebuild

Row = tuple[str, str, Any]


def rows_of(world: World) -> Iterator[Row]:
    """Walk all rows as (table, key, plain document), tables in order, keys sorted."""
    for name in TABLES:
        for key, record in sorted(world.tables[name].items()):
            yield name, key, msgspec.to_builtins(record)


def stored_rows(world: World) -> Iterator[Row]:
    """Walk all rows as they are stored: remembered answers as they came, all else as `rows_of`.

    Which answer is forgotten first is then the same after a restart.
    """
    for name in TABLES:
        table = world.tables[name]
        keys = remembered_in_order(world.indexes) if name == REMEMBERED.name else sorted(table)
        for key in keys:
            yield name, key, msgspec.to_builtins(table[key])


def count_rows(world: World) -> int:
    """Return how many rows a world has: what a snapshot of it costs."""
    return sum(len(table) for table in world.tables.values())


def read_row(table: str, key: str, document: Any) -> Any:
    """Return the record of a plain document. Raises StateRefused, naming the row."""
    known = TABLES.get(table)
    if known is None:
        raise StateRefused(f"there is no table {table!r}; tables are {', '.join(TABLES)}")
    try:
        return msgspec.convert(document, known.kind)
    except msgspec.ValidationError as error:
        raise StateRefused(f"table {table}, row {key}: {error}") from None


class Stored:
    """A world on its way from disk: heading and rows, which commits of the journal then change."""

    def __init__(self, meta: Mapping[str, Any], rows: Iterable[Row]) -> None:
        """Take a heading and rows. Raises StateRefused when the heading lacks something."""
        try:
            self.name, self.seed = str(meta["world"]), str(meta["seed"])
            self.commit, self.at_ms = int(meta["commit"]), int(meta["at_ms"])
        except (KeyError, TypeError, ValueError) as error:
            raise StateRefused(f"the heading lacks or garbles {error}") from None
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
        for table, key, record in rows:
            self.tables[table][key] = record

    def follow(self, commit: Commit) -> None:
        """Take in the next commit; one that is here already is passed over. Raises StateRefused."""
        if commit.number <= self.commit:
            return
        if commit.number != self.commit + 1:
            raise StateRefused(
                f"commit {commit.number} follows {self.commit}; what lay between is missing"
            )
        for name, rows in commit.writes.items():
            if name not in self.tables:
                raise StateRefused(f"commit {commit.number} writes to an unknown table {name!r}")
            table = self.tables[name]
            for key, record in rows.items():
                table.pop(key, None)  # what is written again comes last, as in the live world
                if record is not None:
                    table[key] = record
        self.commit, self.at_ms = commit.number, max(self.at_ms, commit.at_ms)

    def world(self) -> World:
        """Return the world. Raises StateRefused when a part is missing."""
        for table in (CLOCK, ASSUMPTIONS, ORIGIN):
            if ONLY not in self.tables[table.name]:
                raise StateRefused(f"the table {table.name} has no row {ONLY!r}")
        deployments = self.tables[DEPLOYMENTS.name]
        in_order = sorted(deployments.items(), key=lambda row: (row[1].created_at, row[0]))
        tables = {**self.tables, DEPLOYMENTS.name: dict(in_order)}
        rows = ((name, key, record) for name, t in tables.items() for key, record in t.items())
        world = bare_world(self.name, self.seed)
        return rebuild(world, rows, commit=self.commit, at_ms=self.at_ms)


def world_of(meta: Mapping[str, Any], rows: Iterable[Row]) -> World:
    """Return the world of a heading and rows. Raises StateRefused when a part is missing."""
    return Stored(meta, rows).world()


def heading(world: World) -> dict[str, Any]:
    """Return what stands above the rows: format, who wrote it, world, seed, commit, moment."""
    return {
        "format": FORMAT,
        "written_by": __version__,
        "world": world.name,
        "seed": world.seed,
        "commit": world.commit,
        "at_ms": world.at_ms,
    }
