"""Naming: organizations, people and projects as people call them, by alias or by id."""

from __future__ import annotations

from typing import TypeVar

from hosting_emulator.contract.words import nearest
from hosting_emulator.world.records import Organization, Person, Project
from hosting_emulator.world.tables import ORGANIZATIONS, PEOPLE, PROJECTS, Table
from hosting_emulator.world.value import World

N = TypeVar("N", Organization, Person, Project)

_KINDS = {ORGANIZATIONS.name: "organization", PEOPLE.name: "person", PROJECTS.name: "project"}


def kind_of(table: Table[N]) -> str:
    """Return the word for one row of a table."""
    return _KINDS[table.name]


def id_of(world: World, table: Table[N], name: str) -> str:
    """Return the id of what has this alias. What is no alias is taken for an id, there or not."""
    return str(world.indexes.get(f"{kind_of(table)}:{name}") or name)


def not_found(world: World, table: Table[N], name: str) -> str:
    """Say that nothing has this alias or id, and which alias is near; else which there are."""
    aliases = sorted(record.alias for _, record in world.rows(table))
    hint = nearest(name, aliases) or f"; there are {', '.join(aliases)}"
    return f"no {kind_of(table)} is {name[:80]!r} (by alias or id){hint}"
