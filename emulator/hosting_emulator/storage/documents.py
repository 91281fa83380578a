"""Rows as plain JSON documents, and back: shared by snapshots, exports and the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hosting_emulator.storage.errors import StateRefused
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

#: Raised with each change of what is stored; `migrations` would stand beside this number.
FORMAT = 1
Row = tuple[str, str, Any]


def rows_of(world: World) -> Iterator[tuple[str, str, Any]]:
    """Walk all rows as (table, key, plain document), tables in order, keys sorted."""
    for name in TABLES:
        for key, record in sorted(world.tables[name].items()):
            yield name, key, msgspec.to_builtins(record)


def read_row(table: str, key: str, document: Any) -> Any:
    """Return the record of a plain document. Raises StateRefused, naming the row."""
    known = TABLES.get(table)
    if known is None:
        raise StateRefused(f"there is no table {table!r}; tables are {', '.join(TABLES)}")
    try:
        return msgspec.convert(document, known.kind)
    except msgspec.ValidationError as error:
        raise StateRefused(f"table {table}, row {key}: {error}") from None


def world_of(meta: Mapping[str, Any], rows: list[Row]) -> World:
    """Return the world of rows read from disk. Raises StateRefused when a part is missing."""
    check_format(meta)
    try:
        name, seed = str(meta["world"]), str(meta["seed"])
        commit, at_ms = int(meta["commit"]), int(meta["at_ms"])
    except (KeyError, TypeError, ValueError) as error:
        raise StateRefused(f"the heading lacks or garbles {error}") from None
    present = {table for table, key, _ in rows if key == ONLY}
    for table in (CLOCK, ASSUMPTIONS, ORIGIN):
        if table.name not in present:
            raise StateRefused(f"the table {table.name} has no row {ONLY!r}")
    return rebuild(bare_world(name, seed), sorted(rows, key=_order), commit=commit, at_ms=at_ms)


def check_format(meta: Mapping[str, Any]) -> None:
    """Raise StateRefused when the state was written in another format than ours."""
    found = meta.get("format")
    if found == FORMAT:
        return
    if isinstance(found, int) and found > FORMAT:
        advice = "a newer hosting-emulator wrote it: upgrade, or use another --data-dir"
    else:
        advice = "this hosting-emulator cannot read it: use the version that wrote it"
    raise StateRefused(f"its format is {found!r}, not {FORMAT}; {advice}")


def _order(row: Row) -> tuple[str, str, str]:
    """Give lists their order back: deployments as they came, remembered answers as they expire."""
    table, key, record = row
    if table == DEPLOYMENTS.name:
        return table, record.created_at, key
    return table, f"{record.expires_ms:020d}" if table == REMEMBERED.name else "", key


def heading(world: World) -> dict[str, Any]:
    """Return what stands above the rows: format, world, seed, commit, moment."""
    return {
        "format": FORMAT,
        "world": world.name,
        "seed": world.seed,
        "commit": world.commit,
        "at_ms": world.at_ms,
    }
