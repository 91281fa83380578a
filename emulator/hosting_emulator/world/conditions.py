"""Evaluates the conditions on the world under which a fault or an outcome acts."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.indexes import deployment_chunks, deployment_count
from hosting_emulator.world.records import Database, Dns, Organization, Project
from hosting_emulator.world.tables import DATABASES, DNS, ORGANIZATIONS, PROJECTS
from hosting_emulator.world.value import World


def unmet_condition(
    condition: Condition, world: World, project_id: str | None, organization_id: str | None
) -> str | None:
    """Return why a condition does not hold for a project or organization, or None if it holds."""
    project = world.get(PROJECTS, project_id or "")
    if project is not None:
        organization_id = project.organization_id
    organization = world.get(ORGANIZATIONS, organization_id or "")
    for name, expected in _expected_values(condition).items():
        reason = _unmet_reason(name, expected, world, project, organization)
        if reason is not None:
            return reason
    return None


def _unmet_reason(
    name: str,
    expected: Any,
    world: World,
    project: Project | None,
    organization: Organization | None,
) -> str | None:
    """Return why a single part of a condition does not hold, or None if it holds."""
    if name == "not":
        for part, value in _expected_values(expected).items():
            if _unmet_reason(part, value, world, project, organization) is None:
                return f"{_part_text(part, value)}, which `not` excludes"
        return None
    if name in ("plan", "credits_below"):
        return _unmet_by_organization(name, expected, organization)
    return _unmet_by_project(name, expected, world, project)


def _unmet_by_organization(
    name: str, expected: Any, organization: Organization | None
) -> str | None:
    if organization is None:
        return f"the {name} condition needs an organization, but the request names none"
    if name == "plan":
        return _difference(name, expected, organization.plan)
    if organization.credits >= expected:
        return f"the organization has {organization.credits} credits"
    return None


def _unmet_by_project(
    name: str, expected: Any, world: World, project: Project | None
) -> str | None:
    if project is None:
        return f"the {name} condition needs a project, but the request names none"
    return _difference(name, expected, _project_value(name, world, project))


def _difference(name: str, expected: Any, actual: Any) -> str | None:
    """Describe the actual value if it is not an expected value, and otherwise return None."""
    alternatives = expected if isinstance(expected, tuple) else (expected,)
    if actual in alternatives:
        return None
    return f"{name} is {_word(actual)}"


def _project_value(name: str, world: World, project: Project) -> Any:
    """Return the project's current value of the property that a condition's field describes."""
    if name == "deployed":
        return _has_ready_deployment(world, project)
    if name == "claim":
        return "free" if project.claim is None else "held"
    if name == "flag":
        return project.flag_enabled
    if name == "domain":
        return project.custom_domain is not None
    if name == "provider":
        return "failing" if _is_provider_failing(world, project) else "working"
    if name in ("dns", "zone"):
        dns = world.get(DNS, project.id) or Dns()
        return dns.status if name == "dns" else dns.zone is not None
    return _database_value(name, world, project)


def _has_ready_deployment(world: World, project: Project) -> bool:
    """Return whether any deployment of a project is ready, checking the newest deployments first."""
    count = deployment_count(world.indexes, project.id)
    chunks = deployment_chunks(world.indexes, project.id, 0, count)
    return any(
        deployment.status == "ready" and deployment.removed_at is None
        for chunk in reversed(chunks)
        for deployment in reversed(chunk)
    )


def _is_provider_failing(world: World, project: Project) -> bool:
    databases = [world.get(DATABASES, f"{project.id}/{name}") for name in ("dev", "prod")]
    return any(database is not None and database.provider_failing for database in databases)


def _database_value(name: str, world: World, project: Project) -> Any:
    database = world.get(DATABASES, f"{project.id}/prod") or Database("separate")
    if name == "data_mode":
        return database.data_mode
    placement = database.placement
    if name == "database_change":
        return placement is not None and bool(placement.pending_state)
    if placement is None:
        return "absent"
    return placement.state


def condition_text(condition: Condition) -> str:
    """Return a condition as text, such as `dns is pending or expired, credits_below is 1`."""
    return ", ".join(
        _part_text(name, expected) for name, expected in _expected_values(condition).items()
    )


def _part_text(name: str, expected: Any) -> str:
    if name != "not":
        return f"{name} is {_word(expected)}"
    word = "not" if len(_expected_values(expected)) == 1 else "none of"
    return f"{word} ({condition_text(expected)})"


def _expected_values(condition: Condition) -> dict[str, Any]:
    """Return the values that a condition expects, by field name."""
    values = msgspec.structs.astuple(condition)
    fields = zip(condition.__struct_encode_fields__, values, strict=True)
    return {name: expected for name, expected in fields if expected is not None}


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(_word, value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
