"""Who may do what: the caller's scope, role and permissions.

What lies outside the user's access is refused exactly as what does not exist (contract, Errors).
"""

from __future__ import annotations

from urllib.parse import unquote

from hosting_emulator.calls.request import CallRequest
from hosting_emulator.contract.access import AssumedRole
from hosting_emulator.contract.assumption_values import parse_rate_limit
from hosting_emulator.contract.call_table import least_role
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.records import Operation, Organization, Project, RateWindow
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.tables import (
    API_KEYS,
    GRANTS,
    MEMBERSHIPS,
    OPERATIONS,
    ORGANIZATIONS,
    PROJECTS,
    RATE_WINDOWS,
)
from hosting_emulator.world.value import Change

_RANKS = {"reader": 1, "maintainer": 2, "owner": 3}
#: The longest wait that can be said (contract, Errors: `retry_after_seconds`).
_LONGEST_WAIT_S = 86_400
_NOT_FOUND = "No such {} exists within your access."


def authorize(change: Change, request: CallRequest) -> Project | Organization | Operation:
    """Return what the request is about, if its principal may make this call on it.

    Raises Refused: organization_required, resource_not_found, forbidden, interactive_login_required.
    """
    principal, spec, assumptions = request.principal, request.spec, change.assumptions
    if principal.organization_id is None:
        raise Refused(
            "organization_required",
            "The access token names no organization; sign in to one and use its token.",
        )
    if assumptions.malformed_project_id == "invalid_request" and not is_ulid(request.subject_id):
        raise Refused(
            "invalid_request",
            f"The {spec.subject} id in the path is not 26 characters of a Ulid.",
            field=f"{spec.subject}_id",
            assumption="malformed_project_id",
        )
    if spec.subject == "organization":
        return _organization(change, request)
    # Nothing is written yet, so the world's own tables have all there is.
    tables = change.world.tables
    project_id, operation = request.subject_id, None
    if spec.subject == "operation":
        operation = tables[OPERATIONS.name].get(request.subject_id)
        project_id = operation.project_id if operation else ""
        named = map(unquote, request.path.split("/"))
        if "{project_id}" in spec.path and project_id not in named:
            raise _not_found(spec.subject, "the path names another project than the operation's")
    project: Project | None = tables[PROJECTS.name].get(project_id)
    if project is None:
        raise _not_found(spec.subject, "nothing has this id")
    inside = project.organization_id == principal.organization_id
    role = role_of(change, principal.user_id, project) if inside else None
    if role is None:
        outside = f"it exists in project {project.id}, outside the user's access"
        raise _not_found(spec.subject, outside)
    least = least_role(spec, assumptions)
    if _RANKS[role] < _RANKS[least]:
        allowed = "the project's owner" if least == "owner" else f"a project {least} or above"
        raise Refused(
            "forbidden",
            f"Only {allowed} may do this; you are its {role}.",
            why=f"the call needs the role {least}, the user has {role}",
            assumption=spec.role.assumption if isinstance(spec.role, AssumedRole) else None,
        )
    if principal.permissions is not None:
        _check_key(change, request, principal.permissions)
    return operation or project


def role_of(change: Change, user_id: str, project: Project) -> str | None:
    """Return a user's role in a project, whatever their token is for; None where they have none."""
    tables = change.world.tables
    membership = tables[MEMBERSHIPS.name].get(f"{project.organization_id}/{user_id}")
    if membership is None:
        return None
    if membership.role == "owner":
        return "owner"
    grant = tables[GRANTS.name].get(f"{project.id}/{user_id}")
    return grant.role if grant else None


def _not_found(subject: str, why: str) -> Refused:
    return Refused("resource_not_found", _NOT_FOUND.format(subject), why=why)


def _organization(change: Change, request: CallRequest) -> Organization:
    principal = request.principal
    organization = change.get(ORGANIZATIONS, request.subject_id)
    if organization is None:
        raise _not_found("organization", "nothing has this id")
    membership = change.get(MEMBERSHIPS, f"{organization.id}/{principal.user_id}")
    if membership is None or organization.id != principal.organization_id:
        raise _not_found("organization", "it exists, outside the user's access")
    current = is_current(change.world, principal.session_id, principal.user_id)
    if request.spec.interactive and not current:
        ended = (
            "that session has ended" if principal.interactive else "it was issued without a session"
        )
        raise Refused(
            change.assumptions.code_of("session_missing"),
            "This call needs a current interactive user session; an API key or a token without a "
            "session cannot make it.",
            why=f"the token has no current session: {ended}",
        )
    return organization


def _check_key(change: Change, request: CallRequest, permissions: frozenset[str]) -> None:
    # What the organization has enabled is looked at anew each time: a key never outlives it.
    organization = change.get(ORGANIZATIONS, request.principal.organization_id or "")
    enabled = organization.permissions if organization else ()
    needed = request.spec.permission
    if needed not in permissions or needed not in enabled:
        key = change.get(API_KEYS, request.principal.api_key_id or "")
        raise Refused(
            "forbidden",
            f"The API key lacks the permission {needed}.",
            why=f"key {key.name if key else '?'} has {', '.join(sorted(permissions)) or 'none'}",
            assumption="call_permissions",
        )


def count_request(change: Change, user_id: str) -> None:
    """Count a request of a user, if there is a limit, in fixed windows of world time.

    Raises Refused `rate_limited` when it is one too many.
    """
    limit = parse_rate_limit(change.assumptions.rate_limit)
    if limit is None:
        return
    most, window_ms = limit
    window, now_ms = change.get(RATE_WINDOWS, user_id), change.now_ms
    if window is None or not 0 <= now_ms - window.began_ms < window_ms:
        window = RateWindow(now_ms, 0)
    if window.count >= most:
        seconds = -(-(window.began_ms + window_ms - now_ms) // 1000)
        raise Refused(
            change.assumptions.code_of("rate_exceeded"),
            f"More than {most} requests in {window_ms // 1000} seconds.",
            retry_after_seconds=max(1, min(_LONGEST_WAIT_S, seconds)),
            assumption="rate_limit",
        )
    change.put(RATE_WINDOWS, user_id, RateWindow(window.began_ms, window.count + 1))
