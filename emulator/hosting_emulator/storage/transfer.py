"""Export and import: a world's whole state as one readable JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting_emulator.storage.documents import Row, heading, read_row, rows_of, world_of
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.world.tables import TABLES
from hosting_emulator.world.value import World

KIND = "hosting-emulator state"


def export_state(world: World) -> dict[str, Any]:
    """Return the document of a world. Secrets are in it only as digests."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for name, key, document in rows_of(world):
        tables[name][key] = document
    return {"kind": KIND, **heading(world), "tables": tables}


def import_state(document: Any, name: str, after_commit: int) -> World:
    """Return the world of a document, under another name and later than `after_commit`.

    Raises StateRefused, naming the table and the row that cannot be used.
    """
    if not isinstance(document, Mapping) or document.get("kind") != KIND:
        raise StateRefused(f'this is no exported state: it has no "kind": "{KIND}"')
    tables = document.get("tables")
    if not isinstance(tables, Mapping):
        raise StateRefused('"tables" is missing or no object')
    rows: list[Row] = []
    for table, found in tables.items():
        if not isinstance(found, Mapping):
            raise StateRefused(f"table {table}: it must be an object of rows by key")
        rows.extend((str(table), str(k), read_row(str(table), str(k), v)) for k, v in found.items())
    meta = {key: document.get(key) for key in ("format", "seed", "at_ms")}
    commit = document.get("commit")
    number = commit if isinstance(commit, int) else 0
    meta |= {"world": name, "commit": max(after_commit, number) + 1}
    return world_of(meta, rows)
