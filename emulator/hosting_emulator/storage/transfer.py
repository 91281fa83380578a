"""Export and import: a world's whole state as one readable JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.storage.documents import heading, read_row, stored_rows, world_of
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.migrations import check_format, migrate_state
from hosting_emulator.storage.soundness import check_soundness
from hosting_emulator.world.tables import TABLES
from hosting_emulator.world.value import World

KIND = "hosting-emulator state"


def export_state(world: World) -> dict[str, Any]:
    """Return the document of a world. Secrets are in it only as digests."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for name, key, document in stored_rows(world):
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
    for table, found in tables.items():
        if not isinstance(found, Mapping):
            raise StateRefused(f"table {table}: it must be an object of rows by key")
    written_in = check_format(document.get("format"), document.get("written_by"))
    rows: dict[str, dict[str, Any]] = {}
    for table, found in migrate_state(tables, written_in).items():
        rows[table] = {str(key): read_row(table, str(key), row) for key, row in found.items()}
    check_soundness(rows)
    return world_of(
        {
            "world": name,
            "seed": _seed(document),
            "commit": max(after_commit, _number(document, "commit", 2**53)) + 1,
            "at_ms": _number(document, "at_ms", LATEST_MS),
        },
        [(table, key, record) for table, found in rows.items() for key, record in found.items()],
    )


def _seed(document: Mapping[str, Any]) -> str:
    seed = document.get("seed")
    if not isinstance(seed, str):
        raise StateRefused('"seed" is missing or no text')
    return seed


def _number(document: Mapping[str, Any], name: str, most: int) -> int:
    found = document.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= most:
        raise StateRefused(f'"{name}" is missing or no whole number from 0 to {most}')
    return found
