"""Worlds as plain JSON documents, and back: rows, which all files share, and exports.

An export is a world's whole state as one readable document; nothing in it is a secret, only digests.
Nor is its seed, from which each could be computed, unless it is asked for: what is made of it later is
then drawn from another.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from hosting_emulator import __version__
from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.scenario.document import without_seed
from hosting_emulator.storage.format import FORMAT, StateRefused, check_format
from hosting_emulator.storage.integrity import check_integrity
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    CLOCK,
    DEPLOYMENTS,
    ONLY,
    ORIGIN,
    REMEMBERED,
    TABLES,
)
from hosting_emulator.world.value import World, apply, empty_world

STATE_KIND = "hosting-emulator state"
Row = tuple[str, str, Any]


def rows_of(world: World) -> Iterator[Row]:
    """Walk all rows as (table, key, plain document): tables in order, keys sorted.

    Answers that expire stand behind the others, in the order they came: which is forgotten first is
    then the same after a restart.
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
    """Return the record of a plain document. Raises StateRefused, naming the row."""
    known = TABLES.get(table)
    if known is None:
        raise StateRefused(f"there is no table {table!r}; tables are {', '.join(TABLES)}")
    try:
        return msgspec.convert(document, known.kind)
    except msgspec.ValidationError as error:
        raise StateRefused(f"table {table}, row {key}: {error}") from None


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


class StoredCommit(msgspec.Struct, forbid_unknown_fields=True):
    """A commit as it is kept: its number, its moment, what made it and what it wrote."""

    number: int
    at_ms: int
    title: str
    writes: Mapping[str, Mapping[str, Any]]


class StoredState:
    """A world on its way from disk: heading and rows, which commits of the journal then change."""

    def __init__(self, meta: Mapping[str, Any], rows: Iterable[Row]) -> None:
        """Take a heading and rows. Raises StateRefused when the heading lacks something."""
        try:
            self.name, self.seed = str(meta["world"]), str(meta["seed"])
            self.commit, self.at_ms = int(meta["commit"]), int(meta["at_ms"])
            self.lineage = str(meta.get("lineage", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise StateRefused(f"the heading lacks or garbles {error}") from None
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
        for table, key, record in rows:
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
        for table in (CLOCK, ASSUMPTIONS, ORIGIN):
            if ONLY not in self.tables[table.name]:
                raise StateRefused(f"the table {table.name} has no row {ONLY!r}")
        deployments = self.tables[DEPLOYMENTS.name].items()
        # By their operations: their own ids may be in no order.
        in_order = dict(
            sorted(deployments, key=lambda row: (row[1].created_at, row[1].operation_id))
        )
        return apply(
            empty_world(self.name, self.seed),
            {**self.tables, DEPLOYMENTS.name: in_order},
            commit=self.commit,
            at_ms=self.at_ms,
        )


def export_state(world: World, *, with_seed: bool = False) -> dict[str, Any]:
    """Return the document of a world."""
    head = heading(world)
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for name, key, document in rows_of(world):
        tables[name][key] = document
    if not with_seed:
        del head["seed"]
        for origin in tables[ORIGIN.name].values():
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
    meta = {
        "world": name,
        "seed": seed,
        "commit": max(after_commit, _number(document, "commit", 2**53)) + 1,
        "at_ms": _number(document, "at_ms", LATEST_MS),
    }
    read = [
        (table, str(key), read_row(table, str(key), row))
        for table, rows in tables.items()
        for key, row in rows.items()
    ]
    state = StoredState(meta, read)
    check_integrity(state.tables)
    return state.world()


def _number(document: Mapping[str, Any], name: str, most: int) -> int:
    number = document.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        raise StateRefused(f'"{name}" is missing or no whole number from 0 to {most}')
    return number
