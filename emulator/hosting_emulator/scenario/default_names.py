"""The records that a step of a story uses by default."""

from __future__ import annotations

from hosting_emulator.scenario.variable_syntax import DEFAULT_ALIASES
from hosting_emulator.world.naming import ALIASED_TABLES, only_record
from hosting_emulator.world.value import World


def default_alias(world: World, kind: str) -> str | None:
    """Return the default alias of a kind (`shop`, `acme`, `owner`), or the alias of its only record.

    Returns None if a step must name a record, because the world has several records of the kind or
    none.
    """
    usual_alias = DEFAULT_ALIASES[kind]
    if world.indexes.get(f"{kind}:{usual_alias}") is not None:
        return usual_alias
    record = only_record(world, ALIASED_TABLES[kind])
    return None if record is None else str(record.alias)
