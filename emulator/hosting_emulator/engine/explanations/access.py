"""Sentences about access: who made a request, and whether that user is allowed to access its
resource.
"""

from __future__ import annotations

from collections.abc import Iterator

from hosting_emulator.calls.access import role_of
from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.call_table import least_role
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations.steps import ExplainedStep
from hosting_emulator.world import tables
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.records import Project
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.value import Change, World

#: The maximum number of users that a sentence names. Any others are only counted.
_MOST_USERS = 12


def explain_principal(world: World, principal: Principal) -> str:
    """Describe the user or the API key that made a request."""
    user = alias_of(world, tables.USERS, principal.user_id)
    organization = alias_of(world, tables.ORGANIZATIONS, principal.organization_id)
    if principal.api_key_id is not None:
        key = world.get(tables.API_KEYS, principal.api_key_id)
        name = key.name if key else principal.api_key_id
        return f"{user}, with the API key {name!r} of {organization}."
    session = "signed in" if principal.interactive else "without a session"
    return f"{user}, with an access token for {organization}, {session}."


def explain_access(world: World, entry: Entry, spec: CallSpec) -> Iterator[ExplainedStep]:
    """Yield the `scope` step and, if the request reached it, the `role` step."""
    if entry.principal.organization_id is None:
        sentence = "The token names no organization, but every call needs one."
        yield ExplainedStep("scope", sentence)
    elif spec.subject == "organization":
        yield from _organization_access(world, entry, spec)
    else:
        yield from _project_access(world, entry, spec)


def _organization_access(world: World, entry: Entry, spec: CallSpec) -> Iterator[ExplainedStep]:
    """Explain the caller's access to the organization in the path."""
    principal = entry.principal
    organization_id = entry.subject_id
    if world.get(tables.ORGANIZATIONS, organization_id) is None:
        yield _unknown_subject(spec, organization_id)
        return
    name = alias_of(world, tables.ORGANIZATIONS, organization_id)
    member = world.get(tables.MEMBERSHIPS, f"{organization_id}/{principal.user_id}")
    is_of_token = organization_id == principal.organization_id
    if not is_of_token or member is None or member.role is None:
        user = alias_of(world, tables.USERS, principal.user_id)
        reason = _organization_of_token(world, principal)
        visible_to = _users_with_access(Change(world, entry.at_ms), organization_id, None)
        sentence = (
            f"The organization {name} exists, but is outside the access of {user}, {reason}. "
        )
        yield ExplainedStep("scope", sentence + visible_to)
        return
    sentence = f"The user is a member of {name}, the organization of the token."
    yield ExplainedStep("scope", sentence)
    if not spec.interactive:
        return
    if not principal.interactive:
        session = "has no session"
    elif is_current(world, principal.session_id, principal.user_id):
        session = "has a current session"
    else:
        session = "belongs to a session that has ended"
    sentence = f"Any member may make this call, but needs a current session. The token {session}."
    yield ExplainedStep("role", sentence)


def _project_access(world: World, entry: Entry, spec: CallSpec) -> Iterator[ExplainedStep]:
    """Explain the caller's access to the project or operation in the path."""
    principal = entry.principal
    project_id = entry.subject_id
    operation = None
    if spec.subject == "operation":
        operation = world.get(tables.OPERATIONS, entry.subject_id)
        project_id = "" if operation is None else operation.project_id
    project = world.get(tables.PROJECTS, project_id)
    if project is None:
        yield _unknown_subject(spec, entry.subject_id)
        return
    change = Change(world, entry.at_ms)
    owner_id = project.organization_id
    owner = alias_of(world, tables.ORGANIZATIONS, owner_id)
    label = f"The project {project.alias}"
    if operation is not None:
        label = f"The operation of the project {project.alias}"
    member = world.get(tables.MEMBERSHIPS, f"{owner_id}/{principal.user_id}")
    is_of_token = owner_id == principal.organization_id
    role = None
    if is_of_token and member is not None:
        role = role_of(change.world, principal.user_id, project)
    if role is None:
        if not is_of_token:
            reason = _organization_of_token(world, principal)
        elif member is None:
            reason = f"who is not a member of {owner}"
        else:
            reason = f"who has no role in {project.alias}"
        user = alias_of(world, tables.USERS, principal.user_id)
        visible_to = _users_with_access(change, owner_id, project)
        sentence = f"{label} exists in {owner}, but is outside the access of {user}, {reason}. {visible_to}"
        yield ExplainedStep("scope", sentence)
        return
    yield ExplainedStep("scope", f"{label} is within the user's access: it belongs to {owner}.")
    needed_role = least_role(spec, world.assumptions)
    sentence = f"The call needs the {needed_role} role. The user's role is {role}."
    if principal.permissions is not None and spec.permission:
        carries = "carries" if spec.permission in principal.permissions else "lacks"
        sentence += f" The API key {carries} the {spec.permission} permission."
    yield ExplainedStep("role", sentence)


def _unknown_subject(spec: CallSpec, subject_id: str) -> ExplainedStep:
    return ExplainedStep("scope", f"There is no {spec.subject} with the id {subject_id}.")


def _organization_of_token(world: World, principal: Principal) -> str:
    name = alias_of(world, tables.ORGANIZATIONS, principal.organization_id)
    return f"whose token is for {name}"


def _users_with_access(change: Change, owner_id: str, project: Project | None) -> str:
    """Return a sentence that names the members of an organization, who can see it.

    If `project` is given, the sentence names only the members who can see that project.
    """
    world = change.world
    users: list[str] = []
    for _, member in world.rows(tables.MEMBERSHIPS):
        if member.organization_id != owner_id:
            continue
        role: str | None = member.role
        if project is not None:
            role = role_of(change.world, member.user_id, project)
        if role:
            users.append(f"{alias_of(world, tables.USERS, member.user_id)} ({role})")
    users.sort()
    if not users:
        return "No user has access."
    names = ", ".join(users[:_MOST_USERS])
    if len(users) > _MOST_USERS:
        names += f" and {len(users) - _MOST_USERS} more"
    return f"Users with access: {names}."
