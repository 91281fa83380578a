"""Exports a world as a description that can be passed to `new_world` to build a similar world."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.access import PERMISSIONS
from hosting_emulator.world.indexes import deployment_count, removed_count
from hosting_emulator.world.naming import ALIASED_TABLES, in_order
from hosting_emulator.world.population import drawn_id
from hosting_emulator.world.population_parts import (
    DatabasePart,
    OrganizationPart,
    ProjectPart,
    UserPart,
    WorldPart,
    default_email,
)
from hosting_emulator.world.records import Database, Dns, Organization, Project, User
from hosting_emulator.world.tables import (
    DATABASES,
    DNS,
    GRANTS,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PROJECTS,
    USERS,
)
from hosting_emulator.world.value import World


def describe_world(world: World) -> WorldPart:
    """Return a description of a world, in which default values are omitted."""
    aliases: dict[str, str] = {}
    for table in ALIASED_TABLES.values():
        for id_, record in world.rows(table):
            aliases[id_] = record.alias
    memberships: dict[str, dict[str, Any]] = {id_: {} for id_ in aliases}
    grants: dict[str, dict[str, Any]] = {id_: {} for id_ in aliases}
    for _, membership in world.rows(MEMBERSHIPS):
        memberships[membership.user_id][aliases[membership.organization_id]] = membership.role
    for _, grant in world.rows(GRANTS):
        grants[grant.user_id][aliases[grant.project_id]] = grant.role
    return WorldPart(
        organizations=[
            _describe_organization(world, organization)
            for organization in in_order(world, ORGANIZATIONS)
        ],
        users=[
            _describe_user(world, user, memberships[user.id], grants[user.id])
            for user in in_order(world, USERS)
        ],
        projects=[
            _describe_project(world, project, aliases[project.organization_id])
            for project in in_order(world, PROJECTS)
        ],
    )


def _describe_organization(world: World, organization: Organization) -> OrganizationPart:
    part = OrganizationPart(
        alias=organization.alias,
        name=_chosen_name(organization),
        plan=organization.plan,
        credits=organization.credits,
        id=_chosen_id(world, "organization", organization),
    )
    if organization.permissions != PERMISSIONS:
        part.permissions = list(organization.permissions)
    return part


def _describe_user(
    world: World, user: User, memberships: dict[str, Any], grants: dict[str, Any]
) -> UserPart:
    part = UserPart(
        alias=user.alias,
        name=_chosen_name(user),
        organizations=memberships,
        projects=grants,
        id=_chosen_id(world, "user", user),
    )
    if user.email != default_email(user.alias):
        part.email = user.email
    return part


def _describe_project(world: World, project: Project, organization: str) -> ProjectPart:
    dev = world.get(DATABASES, f"{project.id}/dev") or Database("separate")
    prod = world.get(DATABASES, f"{project.id}/prod") or Database("separate")
    dns = world.get(DNS, project.id) or Dns()
    count = deployment_count(world.indexes, project.id) - removed_count(world.indexes, project.id)
    part = ProjectPart(
        alias=project.alias,
        organization=organization,
        deployments=count,
        flag=project.flag_enabled,
        domain=project.custom_domain,
        dns=dns.status,  # type: ignore[arg-type]
        database=DatabasePart(dev.data_mode, _state(dev), _state(prod)),  # type: ignore[arg-type]
        id=_chosen_id(world, "project", project),
    )
    if project.source_generation != min(1, count):
        part.source_generation = project.source_generation
    if project.handle != project.alias:
        part.handle = project.handle
    return part


def _state(database: Database) -> Any:
    return "absent" if database.placement is None else database.placement.state


def _chosen_name(record: Organization | User) -> str | None:
    """Return a record's name, or None if it is the default name."""
    if record.name == record.alias.capitalize():
        return None
    return record.name


def _chosen_id(world: World, kind: str, record: Organization | User | Project) -> str | None:
    """Return a record's id, or None if it is the default id."""
    if record.id == drawn_id(world.seed, kind, record.alias):
        return None
    return record.id
