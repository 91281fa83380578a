"""Who asked, what lay within their access, and with which role.

The log may say what an answer must not: that a thing exists, and who could have seen it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hosting_emulator.calls.access import project_role
from hosting_emulator.calls.asking import Principal
from hosting_emulator.contract.calls import CallSpec, Subject, calls_at
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.request_log import Entry
from hosting_emulator.world.records import Organization, Person, Project
from hosting_emulator.world.tables import (
    API_KEYS,
    GRANTS,
    MEMBERSHIPS,
    OPERATIONS,
    ORGANIZATIONS,
    PEOPLE,
    PROJECTS,
)
from hosting_emulator.world.value import Change, World

#: More people than these are counted, not named.
_NAMED = 12


def principal_of(world: World, principal: Principal) -> str:
    """Say who asked, and with what."""
    who, where = _person(world, principal.person_id), _organization(world, principal)
    if principal.api_key_id is not None:
        key = world.get(API_KEYS, principal.api_key_id)
        name = key.name if key else principal.api_key_id
        return f"{who}, by the API key {name!r} of {where}."
    session = "signed in" if principal.interactive else "without a session"
    return f"{who}, by an access token for {where}, {session}."


def access_of(
    world: World, entry: Entry, principal: Principal, spec: CallSpec
) -> Iterator[tuple[str, str]]:
    """Yield the steps `scope` and `role`, as far as the request came."""
    if principal.organization_id is None:
        yield "scope", "The token names no organization, and every call needs one."
        return
    subject_id = _subject_id(world, entry)
    if spec.subject == "organization":
        yield from _of_organization(world, principal, spec, subject_id)
        return
    project, label = _project(world, spec.subject, subject_id)
    if project is None:
        yield "scope", f"Nothing has the {spec.subject} id {subject_id}."
        return
    role = project_role(Change(world, entry.at_ms), principal, project)
    owner = world.get(ORGANIZATIONS, project.organization_id)
    of = owner.alias if owner else project.organization_id
    if role is None:
        yield "scope", _outside(world, label, of, project, principal)
        return
    yield "scope", f"{_begun(label)} is within the caller's access: it belongs to {of}."
    least = spec.least_role(world.assumptions)
    yield "role", f"The call needs the role {least}; the caller is {role}.{_key(principal, spec)}"


def _of_organization(
    world: World, principal: Principal, spec: CallSpec, organization_id: str
) -> Iterator[tuple[str, str]]:
    found = world.get(ORGANIZATIONS, organization_id)
    if found is None:
        yield "scope", f"Nothing has the organization id {organization_id}."
        return
    member = world.get(MEMBERSHIPS, f"{found.id}/{principal.person_id}")
    if found.id != principal.organization_id or member is None:
        yield (
            "scope",
            f"The organization {found.alias} exists, outside the access of "
            f"{_person(world, principal.person_id)}, whose token is for "
            f"{_organization(world, principal)}. {_could(_members(world, found))}",
        )
        return
    yield "scope", f"{found.alias} is the organization of the token, and the caller is in it."
    if spec.interactive:
        signed_in = "has" if principal.interactive else "has no"
        yield "role", f"Any member may; the call needs a session, and the token {signed_in} one."


def _outside(world: World, label: str, of: str, project: Project, principal: Principal) -> str:
    if project.organization_id != principal.organization_id:
        reason = f"whose token is for {_organization(world, principal)}"
    elif world.get(MEMBERSHIPS, f"{project.organization_id}/{principal.person_id}") is None:
        reason = f"who is no member of {of}"
    else:
        reason = f"who has no role in {project.alias}"
    who = _person(world, principal.person_id)
    return (
        f"{_begun(label)} exists, in {of}, outside the access of {who}, {reason}. "
        f"{_could(_with_a_role(world, project))}"
    )


def _could(people: list[str]) -> str:
    if not people:
        return "Nobody could see it."
    more = f" and {len(people) - _NAMED} more" if len(people) > _NAMED else ""
    return f"Who could see it: {', '.join(people[:_NAMED])}{more}."


def _with_a_role(world: World, project: Project) -> list[str]:
    """Return who has a role in a project, with it: owners of its organization, and by grant."""
    found = []
    for _, member in world.rows(MEMBERSHIPS):
        if member.organization_id != project.organization_id:
            continue
        grant = world.get(GRANTS, f"{project.id}/{member.person_id}")
        role = "owner" if member.role == "owner" else grant.role if grant else None
        if role is not None:
            found.append(f"{_person(world, member.person_id)} ({role})")
    return sorted(found)


def _members(world: World, organization: Organization) -> list[str]:
    return sorted(
        f"{_person(world, member.person_id)} ({member.role})"
        for _, member in world.rows(MEMBERSHIPS)
        if member.organization_id == organization.id
    )


def _project(world: World, subject: Subject, subject_id: str) -> tuple[Project | None, str]:
    """Return the project that a call is about, and how to name what it is about."""
    if subject == "project":
        found = world.get(PROJECTS, subject_id)
        return found, f"the project {found.alias}" if found else ""
    operation = world.get(OPERATIONS, subject_id)
    found = world.get(PROJECTS, operation.project_id) if operation else None
    return found, f"the operation, of the project {found.alias}," if found else ""


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _subject_id(world: World, entry: Entry) -> str:
    try:
        return calls_at(world.assumptions.operation_path).find(entry.method, entry.path)[1]
    except Refused:  # its path was another assumption's
        return entry.project or entry.operation or "?"


def _key(principal: Principal, spec: CallSpec) -> str:
    if principal.permissions is None or not spec.permission:
        return ""
    carries = "carries" if spec.permission in principal.permissions else "lacks"
    return f" The API key {carries} the permission {spec.permission}."


def _person(world: World, person_id: str) -> str:
    person: Person | None = world.get(PEOPLE, person_id)
    return person.alias if person else person_id


def _organization(world: World, principal: Principal) -> str:
    if principal.organization_id is None:
        return "no organization"
    found = world.get(ORGANIZATIONS, principal.organization_id)
    return found.alias if found else principal.organization_id
