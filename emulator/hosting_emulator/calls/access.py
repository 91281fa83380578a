"""Access checks: the caller's scope, role and permissions.

A request for a resource outside the user's access is refused exactly like a request for a missing
resource (contract, section Errors).
"""

from __future__ import annotations

from urllib.parse import unquote

from hosting_emulator.calls.request import CallRequest
from hosting_emulator.contract.access import AssumedRole
from hosting_emulator.contract.assumption_values import parse_rate_limit
from hosting_emulator.contract.call_table import least_role
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.problems import RETRY_AFTER_MAX, Refused
from hosting_emulator.contract.value_texts import count_text
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
from hosting_emulator.world.value import Change, World

_RANKS = {"reader": 1, "maintainer": 2, "owner": 3}
_NOT_FOUND = "No such {} exists within your access."
_UNKNOWN_ID = "nothing has this id"


def authorize(change: Change, request: CallRequest) -> Project | Organization | Operation:
    """Return the record that a request is about, if the principal is allowed to make the call.

    Raises Refused with organization_required, resource_not_found or forbidden. A missing session is
    refused with interactive_login_required by default, and a malformed id with invalid_request if
    the assumptions say so.
    """
    principal = request.principal
    spec = request.spec
    if principal.organization_id is None:
        raise Refused("organization_required", "The access token does not name an organization.")
    _check_id(change, request)
    subject = spec.subject
    if subject == "organization":
        return _organization(change, request)
    # Read the world's tables directly, because the change contains no writes yet.
    tables = change.world.tables
    project_id = request.subject_id
    operation: Operation | None = None
    if subject == "operation":
        operation = tables[OPERATIONS.name].get(request.subject_id)
        if operation is None:
            raise not_found(subject, _UNKNOWN_ID)
        project_id = operation.project_id
        segments = map(unquote, request.path.split("/"))
        if "{project_id}" in spec.path and project_id not in segments:
            raise not_found(subject, "the path names a project that is not the operation's project")
    project: Project | None = tables[PROJECTS.name].get(project_id)
    if project is None:
        raise not_found(subject, _UNKNOWN_ID)
    role = None
    if project.organization_id == principal.organization_id:
        role = role_of(change.world, principal.user_id, project)
    if role is None:
        why = f"the project {project.id} exists, but is outside the user's access"
        raise not_found(subject, why)
    _check_role(change, request, role)
    if principal.permissions is not None:
        _check_permissions(change, request, principal.permissions)
    return operation or project


def _check_id(change: Change, request: CallRequest) -> None:
    """Raise Refused `invalid_request` if the id is malformed and the assumptions say so."""
    if change.assumptions.malformed_project_id != "invalid_request":
        return
    if not is_ulid(request.subject_id):
        subject = request.spec.subject
        raise Refused(
            "invalid_request",
            f"The {subject} id in the path is not a Ulid of 26 characters.",
            assumption="malformed_project_id",
        )


def role_of(world: World, user_id: str, project: Project) -> str | None:
    """Return a user's role in a project, or None if the user has no role in the project.

    The organization named in the token makes no difference.
    """
    tables = world.tables
    membership = tables[MEMBERSHIPS.name].get(f"{project.organization_id}/{user_id}")
    if membership is None:
        return None
    if membership.role == "owner":
        return "owner"
    grant = tables[GRANTS.name].get(f"{project.id}/{user_id}")
    if grant is None:
        return None
    role: str = grant.role
    return role


def _check_role(change: Change, request: CallRequest, role: str) -> None:
    """Raise Refused if the call requires a higher role in the project."""
    spec = request.spec
    needed = least_role(spec, change.assumptions)
    if _RANKS[role] >= _RANKS[needed]:
        return
    allowed = f"a project {needed} or above"
    if needed == "owner":
        allowed = "the project's owner"
    assumption = None
    if isinstance(spec.role, AssumedRole):
        assumption = spec.role.assumption
    raise Refused(
        "forbidden",
        f"Only {allowed} may do this; you are its {role}.",
        why=f"the call needs the {needed} role, but the user's role is {role}",
        assumption=assumption,
    )


def not_found(subject: str, why: str) -> Refused:
    """Return the refusal for a request about a resource that the user cannot see.

    `why` is shown only in the request log.
    """
    return Refused("resource_not_found", _NOT_FOUND.format(subject), why=why)


def _organization(change: Change, request: CallRequest) -> Organization:
    """Return the organization named in the path. Raises Refused."""
    principal = request.principal
    organization = change.get(ORGANIZATIONS, request.subject_id)
    if organization is None:
        raise not_found("organization", _UNKNOWN_ID)
    membership = change.get(MEMBERSHIPS, f"{organization.id}/{principal.user_id}")
    if membership is None or organization.id != principal.organization_id:
        raise not_found("organization", "the organization exists, but is outside the user's access")
    has_session = is_current(change.world, principal.session_id, principal.user_id)
    if request.spec.interactive and not has_session:
        reason = "the token was issued without a session"
        if principal.interactive:
            reason = "the token's session has ended"
        raise Refused(
            change.assumptions.code_of("session_missing"),
            "This call needs a current interactive user session; an API key or a token without a "
            "session cannot make it.",
            why=f"the token has no current session: {reason}",
        )
    return organization


def _check_permissions(change: Change, request: CallRequest, permissions: frozenset[str]) -> None:
    """Raise Refused if an API key or its organization lacks the permission that the call requires."""
    # Read the organization's permissions each time, because a key loses the permissions that its
    # organization disables.
    organization = change.get(ORGANIZATIONS, request.principal.organization_id or "")
    needed = request.spec.permission
    is_enabled = organization is not None and needed in organization.permissions
    if is_enabled and needed in permissions:
        return
    key = change.get(API_KEYS, request.principal.api_key_id or "")
    key_name = "?" if key is None else key.name
    raise Refused(
        "forbidden",
        f"The API key lacks the {needed} permission.",
        why=f"key {key_name} has {', '.join(sorted(permissions)) or 'none'}",
        assumption="call_permissions",
    )


def count_request(change: Change, user_id: str) -> None:
    """Count a user's request against the rate limit. The world must have one.

    The limit applies to windows of world time. Raises Refused for a request over the limit, by
    default with `rate_limited`.
    """
    limit = parse_rate_limit(change.assumptions.rate_limit)
    assert limit is not None
    allowed, window_ms = limit
    now_ms = change.now_ms
    window = change.get(RATE_WINDOWS, user_id)
    if window is None or not 0 <= now_ms - window.began_ms < window_ms:
        window = RateWindow(now_ms, 0)
    if window.count >= allowed:
        seconds = -(-(window.began_ms + window_ms - now_ms) // 1000)
        raise Refused(
            change.assumptions.code_of("rate_exceeded"),
            f"More than {count_text(allowed, 'request')} in {count_text(window_ms // 1000, 'second')}.",
            retry_after_seconds=max(1, min(RETRY_AFTER_MAX, seconds)),
            assumption="rate_limit",
        )
    change.put(RATE_WINDOWS, user_id, RateWindow(window.began_ms, window.count + 1))
