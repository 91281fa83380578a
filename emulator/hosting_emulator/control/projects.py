"""The endpoint that lists a world's projects, each with its records.

The response contains no secrets, because ticket values are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter, itemgetter
from typing import Annotated

import msgspec

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.query import Limit, Query
from hosting_emulator.http.time_slices import sort_in_slices
from hosting_emulator.messages import (
    DatabaseState,
    FlagState,
    ProjectMember,
    ProjectState,
    TicketState,
)
from hosting_emulator.world import views
from hosting_emulator.world.indexes import deployment_count, latest_deployments, removed_count
from hosting_emulator.world.naming import alias_of, in_order
from hosting_emulator.world.plans import HELD
from hosting_emulator.world.records import Database, Dns, Membership, Project, Ticket
from hosting_emulator.world.tables import (
    DATABASES,
    DNS,
    GRANTS,
    MEMBERSHIPS,
    OPERATIONS,
    ORGANIZATIONS,
    PROJECTS,
    TICKETS,
    USERS,
)
from hosting_emulator.world.value import World

#: The maximum number of tickets listed for each project, and the default maximum number of
#: deployments.
_MOST_ITEMS = 10


async def list_projects(
    engine: Engine,
    deployments: Annotated[
        Limit, Query("Return at most this many deployments of each project, newest first.")
    ] = _MOST_ITEMS,
) -> Iterator[ProjectState]:
    """List the projects, sorted by alias, each with its records.

    Older deployments and tickets are left out. `counts` contains the total number of deployments
    that have not been removed.
    `claim_held` is true if the `hold_claim` intervention holds the project's claim.
    """
    now_ms = engine.run_due()
    world = engine.world
    projects = in_order(world, PROJECTS)
    tickets: dict[str, list[Ticket]] = {project.id: [] for project in projects}
    for _, ticket in await sort_in_slices(world.rows(TICKETS), itemgetter(0), reverse=True):
        tickets[ticket.project_id].append(ticket)
    return (
        _project_state(world, project, tickets[project.id], now_ms, deployments)
        for project in projects
    )


def _project_state(
    world: World, project: Project, tickets: list[Ticket], now_ms: int, most_deployments: int
) -> ProjectState:
    """Return a project's state. `tickets` contains all of the project's tickets, newest first."""
    organization_name = project.organization_id
    plan = None
    organization_credits = None
    organization = world.get(ORGANIZATIONS, project.organization_id)
    if organization is not None:
        organization_name = organization.alias
        plan = organization.plan
        organization_credits = organization.credits
    dns = world.get(DNS, project.id) or Dns()
    deployments = latest_deployments(world.indexes, project.id, most_deployments)
    return ProjectState(
        alias=project.alias,
        id=project.id,
        handle=project.handle,
        organization=organization_name,
        plan=plan,
        credits=organization_credits,
        flag=FlagState(enabled=project.flag_enabled, enabled_at=project.flag_enabled_at),
        custom_domain=project.custom_domain,
        source_generation=project.source_generation,
        claim=project.claim,
        claim_held=_is_claim_held(world, project),
        dns=views.dns_authorization(dns, world.assumptions),
        databases={
            "dev": _database_state(world, project, "dev", now_ms),
            "prod": _database_state(world, project, "prod", now_ms),
        },
        counts={
            "deployments": deployment_count(world.indexes, project.id)
            - removed_count(world.indexes, project.id)
        },
        deployments=msgspec.to_builtins(deployments),
        users=_members(world, project),
        tickets=[_ticket_state(world, ticket, now_ms) for ticket in tickets[:_MOST_ITEMS]],
    )


def _is_claim_held(world: World, project: Project) -> bool:
    """Return whether the `hold_claim` intervention holds a project's claim."""
    if project.claim is None:
        return False
    operation = world.get(OPERATIONS, project.claim)
    return operation is not None and operation.kind == HELD


def _database_state(world: World, project: Project, environment: str, now_ms: int) -> DatabaseState:
    record = world.get(DATABASES, f"{project.id}/{environment}") or Database("separate")
    compute = views.database_compute(project, environment, record, now_ms, world.assumptions)
    return DatabaseState(
        data_mode=record.data_mode,
        provider_failing=record.provider_failing,
        compute=compute["database"],
    )


def _ticket_state(world: World, ticket: Ticket, now_ms: int) -> TicketState:
    state: str = ticket.state
    if state == "unused" and ticket.expires_ms <= now_ms:
        state = "expired"
    return TicketState(
        id=ticket.id,
        user=alias_of(world, USERS, ticket.principal),
        state=state,
        expires_at=format_timestamp(ticket.expires_ms),
    )


def _members(world: World, project: Project) -> list[ProjectMember]:
    """Return the users who have a role in a project, sorted by alias."""
    members = []
    for _, membership in world.rows(MEMBERSHIPS):
        if membership.organization_id == project.organization_id:
            member = _member(world, project, membership)
            if member is not None:
                members.append(member)
    return sorted(members, key=attrgetter("user"))


def _member(world: World, project: Project, membership: Membership) -> ProjectMember | None:
    """Return an organization member as a project member, or None if the member has no role in the project."""
    alias = alias_of(world, USERS, membership.user_id)
    if membership.role == "owner":
        # The owners of an organization also own its projects.
        return ProjectMember(user=alias, role="owner", through="organization")
    grant = world.get(GRANTS, f"{project.id}/{membership.user_id}")
    if grant is None:
        return None
    return ProjectMember(user=alias, role=grant.role, through="project")
