"""Names: what organizations, users and projects are called, and the hosts a project is found at."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from hosting_emulator import DEFAULT_WORLD as DEFAULT_WORLD
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.value import World, apply

N = TypeVar("N", r.Organization, r.User, r.Project)

#: What people name by an alias, by the word for its kind.
NAMED: dict[str, t.Table[Any]] = {
    "organization": t.ORGANIZATIONS,
    "project": t.PROJECTS,
    "user": t.USERS,
}
_KINDS = {table.name: kind for kind, table in NAMED.items()}


class Hostnames(NamedTuple):
    """The exact hostnames of one project."""

    development: str
    production: str
    mail: str


#: Zones of production and mail hostnames.
PRODUCTION_ZONE = "prod.localhost"
MAIL_ZONE = "mail.localhost"


def zone_of(world_name: str, zone: str) -> str:
    """Return a zone as one world sees it, so that no two worlds share a host."""
    return zone if world_name == DEFAULT_WORLD else f"{world_name}.{zone}"


def hostnames(world_name: str, assumptions: Assumptions, project: r.Project) -> Hostnames:
    """Derive a project's hostnames."""
    return Hostnames(
        development=f"{project.dev_label}.{zone_of(world_name, assumptions.dev_zone)}",
        production=f"{project.handle}.{zone_of(world_name, PRODUCTION_ZONE)}",
        mail=f"{project.handle}.{zone_of(world_name, MAIL_ZONE)}",
    )


def kind_of(table: t.Table[N]) -> str:
    """Return the word for one row of a table."""
    return _KINDS[table.name]


def id_of(world: World, table: t.Table[N], name: str) -> str:
    """Return the id of what has this alias. What is no alias is taken for an id, there or not."""
    return str(world.indexes.get(f"{_KINDS[table.name]}:{name}") or name)


def alias_of(world: World, table: t.Table[Any], id_: str | None) -> str:
    """Return what people call a record; its id where it is gone."""
    row = None if id_ is None else world.get(table, id_)
    return str(row.alias) if row else id_ or "no organization"


def in_order(world: World, table: t.Table[N]) -> list[N]:
    """Return the rows of a table in the order in which the world was made of them."""
    return sorted((row for _, row in world.rows(table)), key=lambda row: (row.order, row.alias))


def usual_user(world: World) -> r.User | None:
    """Return who asks where nobody is named: `owner`, or else the first organization's owner."""
    owners = {
        m.organization_id: m.user_id for _, m in world.rows(t.MEMBERSHIPS) if m.role == "owner"
    }
    owned = (owners[found.id] for found in in_order(world, t.ORGANIZATIONS) if found.id in owners)
    return world.get(t.USERS, world.indexes.get("user:owner") or next(owned, ""))


def not_found(world: World, table: t.Table[N], name: str) -> str:
    """Say that nothing has this alias or id, and which alias is near; else which there are."""
    aliases = sorted(record.alias for _, record in world.rows(table))
    hint = nearest(name, aliases) or f"; there are {', '.join(aliases)}"
    return f"no {kind_of(table)} is {name[:80]!r} (by alias or id){hint}"


def renamed(world: World, name: str) -> World:
    """Return a world under another name, as if it had been built so; its commits count as before."""
    if name == world.name:
        return world
    hosts = (
        [hostnames(one, world.assumptions, project).production for one in (world.name, name)]
        for _, project in world.rows(t.PROJECTS)
    )
    urls = {f"https://{old}": f"https://{new}" for old, new in hosts}
    moved = {
        key: replace(deployment, url=urls[deployment.url])
        for key, deployment in world.rows(t.DEPLOYMENTS)
        if deployment.url in urls
    }
    writes = {t.DEPLOYMENTS.name: moved}
    return replace(apply(world, writes, commit=world.commit, at_ms=world.at_ms), name=name)
