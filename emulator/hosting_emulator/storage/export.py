"""Exports a complete world as one JSON document, and imports such documents.

The document contains digests of secrets, but not the secrets themselves. By default it does not
include the world's seed either, because all secrets can be computed from the seed. A world that is
imported from a document without a seed gets a new one.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.scenario.reading import without_seed
from hosting_emulator.storage.format import StateRefused, check_format
from hosting_emulator.storage.integrity import check_integrity
from hosting_emulator.storage.rows import StoredState, heading_of, rows_of
from hosting_emulator.world.tables import ORIGIN, TABLES
from hosting_emulator.world.value import World

STATE_KIND = "hosting-emulator state"


def export_state(world: World, *, with_seed: bool = False) -> dict[str, Any]:
    """Return a world's state as a JSON document. With `with_seed`, the document includes the seed."""
    heading = heading_of(world)
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for name, key, document in rows_of(world):
        tables[name][key] = document
    if not with_seed:
        del heading["seed"]
        for origin in tables[ORIGIN.name].values():
            if origin.get("scenario") is not None:
                origin["scenario"] = without_seed(origin["scenario"])
    return {"kind": STATE_KIND, **heading, "tables": tables}


def import_state(document: Any, name: str, after_commit: int, seed: str | None = None) -> World:
    """Create the world that a document describes, under the name `name`.

    The world's commit number is greater than `after_commit`. Its seed is `seed` or, if that is
    None, the seed in the document. If the document has no seed either, the world gets a new one.
    Raises StateRefused if the document is invalid. The message names the invalid table and row.
    """
    if not isinstance(document, Mapping) or document.get("kind") != STATE_KIND:
        raise StateRefused(f'this is not an exported state: it has no "kind": "{STATE_KIND}"')
    tables = document.get("tables")
    if not isinstance(tables, Mapping):
        raise StateRefused('"tables" is missing or not an object')
    for table, rows in tables.items():
        if not isinstance(rows, Mapping):
            raise StateRefused(f"table {table} must be an object that maps keys to rows")
    check_format(document.get("format"), document.get("written_by"))
    if seed is None:
        seed = document.get("seed", secrets.token_hex(16))
    if not isinstance(seed, str):
        raise StateRefused('"seed" must be a string')
    heading: dict[str, Any] = {"world": name, "seed": seed}
    for field, most in (("commit", 2**53), ("at_ms", LATEST_MS)):
        number = heading[field] = document.get(field)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
            raise StateRefused(f'"{field}" is missing or not a whole number from 0 to {most}')
    heading["commit"] = max(after_commit, heading["commit"]) + 1
    rows = ((table, str(key), row) for table, rows in tables.items() for key, row in rows.items())
    state = StoredState(heading, rows)
    check_integrity(state.tables)
    return state.world()
