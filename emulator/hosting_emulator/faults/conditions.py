"""Conditions on the world: whether it is now as a rule wants it, and if not, how it is."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.world import tables as t
from hosting_emulator.world.fault_records import Condition
from hosting_emulator.world.indexes import deployment_count, deployment_runs
from hosting_emulator.world.records import Database, Dns, Project
from hosting_emulator.world.value import World

_OF_ORGANIZATION = ("plan", "credits_below")


def unmet(
    condition: Condition, world: World, project_id: str | None, organization_id: str | None
) -> str | None:
    """Say what keeps a condition from holding for a project, or else an organization; None: it holds."""
    project = world.get(t.PROJECTS, project_id or "")
    owner = project.organization_id if project else organization_id
    organization = world.get(t.ORGANIZATIONS, owner or "")
    for name, wanted in _asked(condition).items():
        if name == "not":
            if unmet(wanted, world, project_id, organization_id) is None:
                return f"{condition_text(wanted)}, which must not be"
            continue
        subject = "organization" if name in _OF_ORGANIZATION else "project"
        if (organization if name in _OF_ORGANIZATION else project) is None:
            return f"it depends on {name}, and the request names no {subject}"
        if name == "credits_below":
            assert organization is not None
            if organization.credits >= wanted:
                return f"there are {organization.credits} credits"
            continue
        found = organization.plan if name == "plan" and organization else None
        if project is not None and found is None:
            found = _of_project(name, world, project)
        if found not in (wanted if isinstance(wanted, tuple) else (wanted,)):
            return f"{name} is {_word(found)}"
    return None


def _of_project(name: str, world: World, project: Project) -> Any:
    dns = world.get(t.DNS, project.id) or Dns()
    database = world.get(t.DATABASES, f"{project.id}/prod") or Database("separate")
    placement = database.placement
    return {
        "dns": dns.status,
        "zone": dns.zone is not None,
        "claim": "free" if project.claim is None else "held",
        "flag": project.flag_enabled,
        "domain": project.custom_domain is not None,
        "deployed": name == "deployed" and _deployed(world, project.id),
        "database": placement.state if placement else "absent",
        "database_change": bool(placement and placement.pending_state),
        "data_mode": database.data_mode,
    }[name]


def _deployed(world: World, project_id: str) -> bool:
    count = deployment_count(world.indexes, project_id)
    runs = deployment_runs(world.indexes, project_id, 0, count)
    return any(found.status == "ready" for run in reversed(runs) for found in reversed(run))


def condition_text(condition: Condition) -> str:
    """Write a condition as people read it: `dns is pending or expired, credits_below is 1`."""
    return ", ".join(
        f"not ({condition_text(wanted)})" if name == "not" else f"{name} is {_word(wanted)}"
        for name, wanted in _asked(condition).items()
    )


def _asked(condition: Condition) -> dict[str, Any]:
    """Return what a condition asks for, by the names it is written with."""
    fields = msgspec.structs.fields(condition)
    asked = {field.encode_name: getattr(condition, field.name) for field in fields}
    return {name: wanted for name, wanted in asked.items() if wanted is not None}


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
