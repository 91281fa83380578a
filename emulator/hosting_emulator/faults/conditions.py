"""Conditions on the world under which a fault acts."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.world.fault_records import Condition
from hosting_emulator.world.indexes import deployment_chunks, deployment_count
from hosting_emulator.world.records import Database, Dns, Project
from hosting_emulator.world.tables import DATABASES, DNS, ORGANIZATIONS, PROJECTS
from hosting_emulator.world.value import World


def unmet_condition(
    condition: Condition, world: World, project_id: str | None, organization_id: str | None
) -> str | None:
    """Say what keeps a condition from holding for a project, or else an organization; None: it holds."""
    project = world.get(PROJECTS, project_id or "")
    owner = project.organization_id if project else organization_id
    organization = world.get(ORGANIZATIONS, owner or "")
    for name, expected in _expected_values(condition).items():
        if name == "not":
            if unmet_condition(expected, world, project_id, organization_id) is None:
                return f"{condition_text(expected)}, which must not be"
            continue
        if name in ("plan", "credits_below"):
            if organization is None:
                return f"it depends on {name}, and the request names no organization"
            if name == "credits_below":
                if organization.credits >= expected:
                    return f"there are {organization.credits} credits"
                continue
            found: Any = organization.plan
        elif project is None:
            return f"it depends on {name}, and the request names no project"
        else:
            found = _of_project(name, world, project)
        if found not in (expected if isinstance(expected, tuple) else (expected,)):
            return f"{name} is {_word(found)}"
    return None


def _of_project(name: str, world: World, project: Project) -> Any:
    if name == "deployed":
        count = deployment_count(world.indexes, project.id)
        runs = deployment_chunks(world.indexes, project.id, 0, count)
        return any(found.status == "ready" for run in reversed(runs) for found in reversed(run))
    dns = world.get(DNS, project.id) or Dns()
    database = world.get(DATABASES, f"{project.id}/prod") or Database("separate")
    placement = database.placement
    return {
        "dns": dns.status,
        "zone": dns.zone is not None,
        "claim": "free" if project.claim is None else "held",
        "flag": project.flag_enabled,
        "domain": project.custom_domain is not None,
        "database": placement.state if placement else "absent",
        "database_change": bool(placement and placement.pending_state),
        "data_mode": database.data_mode,
    }[name]


def condition_text(condition: Condition) -> str:
    """Write a condition as people read it: `dns is pending or expired, credits_below is 1`."""
    return ", ".join(
        f"not ({condition_text(expected)})" if name == "not" else f"{name} is {_word(expected)}"
        for name, expected in _expected_values(condition).items()
    )


def _expected_values(condition: Condition) -> dict[str, Any]:
    """Return what a condition asks for, by the names it is written with."""
    asked = zip(condition.__struct_encode_fields__, msgspec.structs.astuple(condition), strict=True)
    return {name: expected for name, expected in asked if expected is not None}


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
