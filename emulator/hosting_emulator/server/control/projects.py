"""What a world holds, for people who look: its projects with all that belongs to them, and its keys.

It reads and changes nothing, and shows no secret: a key's value, and a ticket's, are not kept.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import msgspec

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.server.control.context import Limit
from hosting_emulator.server.control.worlds import alias
from hosting_emulator.world import tables as t
from hosting_emulator.world import views
from hosting_emulator.world.indexes import deployment_count, deployment_runs, in_runs
from hosting_emulator.world.naming import in_order
from hosting_emulator.world.operations import HELD
from hosting_emulator.world.records import Database, Dns, Project, Ticket
from hosting_emulator.world.value import World

#: How many of a project's tickets are shown, and of its deployments unless asked: the newest.
_SHOWN = 10


def list_projects(engine: Engine, deployments: Limit = _SHOWN) -> list[dict[str, Any]]:
    """List the projects by alias, each with everything that belongs to it.

    Only the newest deployments and tickets are included; `counts` says how many deployments
    there are, `claim_held` whether the claim is held by the intervention hold_claim.
    """
    now_ms = engine.run_due()
    world = engine.world
    projects = in_order(world, t.PROJECTS)
    tickets: dict[str, list[Ticket]] = {project.id: [] for project in projects}
    for _, ticket in sorted(world.rows(t.TICKETS), key=itemgetter(0), reverse=True):
        tickets[ticket.project_id].append(ticket)
    return [_project(world, p, tickets[p.id], now_ms, deployments) for p in projects]


def list_keys(engine: Engine) -> list[dict[str, Any]]:
    """List the user API keys, newest first, without their values."""
    now_ms = engine.run_due()
    world = engine.world
    keys = sorted((key for _, key in world.rows(t.API_KEYS)), key=lambda key: key.id, reverse=True)
    return [
        {
            "id": key.id,
            "name": key.name,
            "who": alias(world, t.PEOPLE, key.person_id),
            "organization": alias(world, t.ORGANIZATIONS, key.organization_id),
            "obfuscated_value": key.obfuscated_value,
            "permissions": key.permissions,
            "created_at": key.created_at,
            "expires_at": format_timestamp(key.expires_ms),
            "last_used_at": key.last_used_at,
            "revoked": key.revoked,
            "expired": key.expires_ms <= now_ms,
        }
        for key in keys
    ]


def _project(
    world: World, project: Project, tickets: list[Ticket], now_ms: int, most: int
) -> dict[str, Any]:
    organization = world.get(t.ORGANIZATIONS, project.organization_id)
    holder = world.get(t.OPERATIONS, project.claim) if project.claim else None
    count = deployment_count(world.indexes, project.id)
    start = max(0, count - most)
    newest = in_runs(deployment_runs(world.indexes, project.id, start, count), start, count)[::-1]
    return {
        "alias": project.alias,
        "id": project.id,
        "handle": project.handle,
        "organization": organization.alias if organization else project.organization_id,
        "plan": organization.plan if organization else None,
        "credits": organization.credits if organization else None,
        "flag": {"enabled": project.flag_enabled, "enabled_at": project.flag_enabled_at},
        "custom_domain": project.custom_domain,
        "source_generation": project.source_generation,
        "claim": project.claim,
        "claim_held": holder is not None and holder.kind == HELD,
        "dns": views.dns_authorization(world.get(t.DNS, project.id) or Dns(), world.assumptions),
        "databases": {name: _database(world, project, name, now_ms) for name in ("dev", "prod")},
        "counts": {"deployments": count},
        "deployments": msgspec.to_builtins(newest),
        "people": _people(world, project),
        "tickets": [
            {
                "id": ticket.id,
                "who": alias(world, t.PEOPLE, ticket.principal),
                "state": "expired"
                if ticket.state == "unused" and ticket.expires_ms <= now_ms
                else ticket.state,
                "expires_at": format_timestamp(ticket.expires_ms),
            }
            for ticket in tickets[:_SHOWN]
        ],
    }


def _people(world: World, project: Project) -> list[dict[str, str]]:
    """Return who has a role in a project, by alias; an organization's owner owns its projects."""
    rows = []
    for _, member in world.rows(t.MEMBERSHIPS):
        if member.organization_id == project.organization_id:
            who = alias(world, t.PEOPLE, member.person_id)
            grant = world.get(t.GRANTS, f"{project.id}/{member.person_id}")
            owns = world.assumptions.organization_owner == "owns_projects"
            if member.role == "owner" and owns:
                rows.append({"who": who, "role": "owner", "through": "organization"})
            elif grant is not None:
                rows.append({"who": who, "role": grant.role, "through": "project"})
    return sorted(rows, key=lambda row: row["who"])


def _database(world: World, project: Project, name: str, now_ms: int) -> dict[str, Any]:
    record = world.get(t.DATABASES, f"{project.id}/{name}") or Database("separate")
    shown = views.database_compute(project, name, record, now_ms, world.assumptions)
    return {
        "data_mode": record.data_mode,
        "provider_failing": record.provider_failing,
        "compute": shown["database"],
    }
