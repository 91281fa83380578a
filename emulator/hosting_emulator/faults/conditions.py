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
    """Say why a condition does not hold for a project, or else for an organization. None: it holds."""
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
            actual: Any = organization.plan
        elif project is None:
            return f"it depends on {name}, and the request names no project"
        else:
            actual = _project_value(name, world, project)
        alternatives = expected if isinstance(expected, tuple) else (expected,)
        if actual not in alternatives:
            return f"{name} is {_word(actual)}"
    return None


def _project_value(name: str, world: World, project: Project) -> Any:
    """Return the value of a project that a field of a condition is about."""
    if name == "deployed":
        count = deployment_count(world.indexes, project.id)
        chunks = deployment_chunks(world.indexes, project.id, 0, count)
        return any(
            deployment.status == "ready"
            for chunk in reversed(chunks)
            for deployment in reversed(chunk)
        )
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
    """Return the expected values of a condition, by their names in a document."""
    values = msgspec.structs.astuple(condition)
    fields = zip(condition.__struct_encode_fields__, values, strict=True)
    return {name: expected for name, expected in fields if expected is not None}


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
