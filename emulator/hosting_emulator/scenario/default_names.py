"""The users, organizations and projects that the steps of a story use by default."""

from __future__ import annotations

from hosting_emulator.scenario.variable_syntax import DEFAULT_ALIASES
from hosting_emulator.world.naming import ALIASED_TABLES, only_record
from hosting_emulator.world.value import World


def default_alias(world: World, kind: str) -> str | None:
    """Return the alias that a step uses by default for a kind of record, such as `project`.

    This is `shop`, `acme` or `owner` if there is a record with this alias. Otherwise it is the
    alias of the only record of this kind, or None if the world has several records of this kind or
    none.
    """
    usual_alias = DEFAULT_ALIASES[kind]
    if world.indexes.get(f"{kind}:{usual_alias}") is not None:
        return usual_alias
    record = only_record(world, ALIASED_TABLES[kind])
    return None if record is None else str(record.alias)
