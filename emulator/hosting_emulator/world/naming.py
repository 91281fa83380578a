"""Aliases of organizations, users and projects, and the hostnames of projects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec.structs import replace

from hosting_emulator import DEFAULT_WORLD as DEFAULT_WORLD
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.world.records import Organization, Project, User
from hosting_emulator.world.tables import (
    DEPLOYMENTS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PROJECTS,
    USERS,
    Table,
)
from hosting_emulator.world.value import World, apply

AliasedRecord = TypeVar("AliasedRecord", Organization, User, Project)

#: The tables whose records have aliases, keyed by the noun for such a record.
ALIASED_TABLES: dict[str, Table[Any]] = {
    "organization": ORGANIZATIONS,
    "project": PROJECTS,
    "user": USERS,
}
_NOUNS = {table.name: noun for noun, table in ALIASED_TABLES.items()}


@dataclass(frozen=True, slots=True)
class Hostnames:
    """The exact hostnames of a project."""

    development: str
    production: str
    mail: str


#: The DNS zones of production and mail hostnames.
PRODUCTION_ZONE = "prod.localhost"
MAIL_ZONE = "mail.localhost"


def zone_of(world_name: str, zone: str) -> str:
    """Return a zone with the world's name as a prefix, so that no two worlds share a host.

    The default world's zones have no prefix.
    """
    if world_name == DEFAULT_WORLD:
        return zone
    return f"{world_name}.{zone}"


def hostnames(world_name: str, assumptions: Assumptions, project: Project) -> Hostnames:
    """Return a project's hostnames."""
    return Hostnames(
        development=f"{project.dev_label}.{zone_of(world_name, assumptions.dev_zone)}",
        production=f"{project.handle}.{zone_of(world_name, PRODUCTION_ZONE)}",
        mail=f"{project.handle}.{zone_of(world_name, MAIL_ZONE)}",
    )


def kind_of(table: Table[AliasedRecord]) -> str:
    """Return the noun for a record in a table, such as `project`."""
    return _NOUNS[table.name]


def id_of(world: World, table: Table[AliasedRecord], name: str) -> str:
    """Return the id of the record with this alias.

    Return a name that is not an alias unchanged.
    """
    return str(world.indexes.get(f"{_NOUNS[table.name]}:{name}") or name)


def alias_of(world: World, table: Table[Any], id_: str | None) -> str:
    """Return the alias of a record, or the record's id if the record no longer exists.

    Return `no organization` if `id_` is None or empty.
    """
    if not id_:
        return "no organization"
    record = world.get(table, id_)
    return id_ if record is None else str(record.alias)


def in_order(world: World, table: Table[AliasedRecord]) -> list[AliasedRecord]:
    """Return a table's records in the order in which the world's description lists them."""
    records = [record for _, record in world.rows(table)]
    return sorted(records, key=lambda record: (record.order, record.alias))


def only_record(world: World, table: Table[AliasedRecord]) -> AliasedRecord | None:
    """Return the only record in a table, or None if the table does not have exactly one record.

    A command or document that does not name a record applies to the only record in the table.
    """
    records = in_order(world, table)
    if len(records) != 1:
        return None
    return records[0]


def default_user(world: World) -> User | None:
    """Return the user on whose behalf a request is made if no user is named.

    The default user has the alias `owner`. If there is no such user, return an owner of the first
    organization that has an owner. Return None if no organization has an owner.
    """
    user_id = world.indexes.get("user:owner")
    if user_id:
        return world.get(USERS, user_id)
    owners = {
        membership.organization_id: membership.user_id
        for _, membership in world.rows(MEMBERSHIPS)
        if membership.role == "owner"
    }
    for organization in in_order(world, ORGANIZATIONS):
        if organization.id in owners:
            return world.get(USERS, owners[organization.id])
    return None


def not_found_message(world: World, table: Table[AliasedRecord], name: str) -> str:
    """Return an error message saying that no record in a table has this alias or id.

    The message suggests the most similar alias, or lists all aliases if none is similar.
    """
    aliases = sorted(record.alias for _, record in world.rows(table))
    hint = nearest(name, aliases) or f"; the {table.name} are {', '.join(aliases)}"
    return f"there is no {kind_of(table)} with the alias or id {name[:80]!r}{hint}"


def renamed(world: World, name: str) -> World:
    """Return a copy of a world under a different name, as if it had been built with that name.

    The copy has the same commit number.
    """
    if name == world.name:
        return world
    urls = {}
    for _, project in world.rows(PROJECTS):
        old_host = hostnames(world.name, world.assumptions, project).production
        new_host = hostnames(name, world.assumptions, project).production
        urls[f"https://{old_host}"] = f"https://{new_host}"
    moved = {
        key: replace(deployment, url=urls[deployment.url])
        for key, deployment in world.rows(DEPLOYMENTS)
        if deployment.url in urls
    }
    writes = {DEPLOYMENTS.name: moved}
    return replace(apply(world, writes, commit=world.commit, at_ms=world.at_ms), name=name)
