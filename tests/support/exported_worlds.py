"""Exports worlds to documents, imports them, and lists their rows for comparison."""

from __future__ import annotations

import json
from typing import Any

from hosting_emulator.storage.export import export_state, import_state
from hosting_emulator.storage.rows import rows_of
from hosting_emulator.world.value import World


def export_document(world: World, *, with_seed: bool = False) -> dict[str, Any]:
    """Return the exported document of a world."""
    document: dict[str, Any] = json.loads(json.dumps(export_state(world, with_seed=with_seed)))
    return document


def import_document(document: dict[str, Any], name: str = "default") -> World:
    """Return the world of an exported document."""
    return import_state(document, name, 0)


def stored_rows(world: World) -> list[tuple[str, str, Any]]:
    """Return all rows of a world. Each row is a table name, a key and a record."""
    return [(table, key, record) for table, key, record in rows_of(world)]
