"""People as the identity provider tells of them: who they are, and where they belong."""

from __future__ import annotations

from typing import Any

from hosting_emulator.server.control.context import ControlRefused
from hosting_emulator.server.control.people import find
from hosting_emulator.world.naming import id_of
from hosting_emulator.world.records import Organization, Person
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, PEOPLE
from hosting_emulator.world.value import World


def claims_of(person: Person, scope: str) -> dict[str, Any]:
    """Return what a client with this scope may know (OpenID Connect Core 1.0, 5.4)."""
    scopes = scope.split()
    claims: dict[str, Any] = {"sub": person.id}
    if "profile" in scopes:
        claims |= {"name": person.name, "preferred_username": person.alias}
    if "email" in scopes:
        claims |= {"email": person.email, "email_verified": True}
    return claims


def organization_of(world: World, person: Person, name: str) -> str | None:
    """Return the id of the organization that is named, if one is.

    Raises ControlRefused when it is none of this world's, or none of the person's.
    """
    if not name:
        return None
    organization = find(world, ORGANIZATIONS, name)
    if world.get(MEMBERSHIPS, f"{organization.id}/{person.id}") is None:
        raise ControlRefused(400, "", f"the person does not belong to {organization.alias}")
    return organization.id


def organizations_of(world: World, person: Person) -> list[Organization]:
    """Return the organizations that a person belongs to, by alias."""
    found = (
        row
        for key, row in world.rows(ORGANIZATIONS)
        if world.get(MEMBERSHIPS, f"{key}/{person.id}") is not None
    )
    return sorted(found, key=lambda organization: organization.alias)


def in_order(world: World) -> list[Person]:
    """Return everybody: those of an organization by its alias, its owner first; the others last."""
    best: dict[str, tuple[int, str, str]] = {}
    for _, membership in world.rows(MEMBERSHIPS):
        organization = world.get(ORGANIZATIONS, membership.organization_id)
        alias = "" if organization is None else organization.alias
        place = (0, alias, "" if membership.role == "owner" else membership.role)
        best[membership.person_id] = min(place, best.get(membership.person_id, place))
    people = (person for _, person in world.rows(PEOPLE))
    nowhere = (1, "", "")
    return sorted(people, key=lambda person: (best.get(person.id, nowhere), person.alias))


def hinted(world: World, hint: str) -> Person | None:
    """Return the person whose alias, id or e-mail address a `login_hint` is."""
    if not hint:
        return None
    found = world.get(PEOPLE, id_of(world, PEOPLE, hint))
    return found or next((row for _, row in world.rows(PEOPLE) if row.email == hint), None)
