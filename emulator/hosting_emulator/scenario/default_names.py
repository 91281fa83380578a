"""The users, organizations and projects that a story's step uses by default."""

from __future__ import annotations

from hosting_emulator.scenario.variable_syntax import DEFAULT_ALIASES
from hosting_emulator.world.naming import ALIASED_TABLES, only_record
from hosting_emulator.world.value import World


def default_alias(world: World, kind: str) -> str | None:
    """Return the alias that a step uses by default for a kind such as `project`.

    The default is `shop`, `acme` or `owner` if a record has this alias. Otherwise, the default is
    the alias of the only record of the kind. If the world has several records of the kind, or none,
    there is no default, and the result is None.
    """
    usual_alias = DEFAULT_ALIASES[kind]
    if world.indexes.get(f"{kind}:{usual_alias}") is not None:
        return usual_alias
    record = only_record(world, ALIASED_TABLES[kind])
    return None if record is None else str(record.alias)
