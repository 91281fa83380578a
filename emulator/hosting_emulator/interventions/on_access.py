"""Interventions on tickets, API keys, people and organizations."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.assumptions import PERMISSIONS
from hosting_emulator.contract.words import nearest
from hosting_emulator.faults.reading import arm
from hosting_emulator.interventions.base import (
    Intervention,
    InterventionRefused,
    find_organization,
    find_person,
    find_project,
    rows,
)
from hosting_emulator.world import lifecycles
from hosting_emulator.world.records import ApiKey, Grant, Membership, Ticket
from hosting_emulator.world.tables import API_KEYS, GRANTS, MEMBERSHIPS, ORGANIZATIONS, TICKETS
from hosting_emulator.world.value import Change


def _ticket(change: Change, ticket: str | None, person: str | None) -> Ticket:
    """Return an unused ticket: by id, or the last one of a person."""
    if (ticket is None) == (person is None):
        raise InterventionRefused("name either the ticket (by id) or the person it was issued to")
    if ticket is None:
        holder = find_person(change, str(person))
        ticket = change.world.indexes.get(f"last_ticket:{holder.id}")
        if ticket is None:
            raise InterventionRefused(f"{holder.alias} has no ticket")
    found = change.get(TICKETS, ticket)
    if found is None:
        raise InterventionRefused(f"there is no ticket {ticket[:80]!r}")
    state = "expired" if found.expires_ms <= change.now_ms else found.state
    if not lifecycles.TICKET.may(state, "revoked"):
        raise InterventionRefused(f"ticket {found.id} is {state} already")
    return found


class ExpireTicket(Intervention, frozen=True):
    """An unused ticket expires now, before its ten minutes are over."""

    ticket: str | None = None
    person: str | None = None

    def apply(self, change: Change) -> str:
        found = _ticket(change, self.ticket, self.person)
        change.put(TICKETS, found.id, replace(found, expires_ms=change.now_ms))
        return f"ticket {found.id} has expired"


class RevokeTicket(Intervention, frozen=True):
    """An unused ticket is revoked."""

    ticket: str | None = None
    person: str | None = None

    def apply(self, change: Change) -> str:
        found = _ticket(change, self.ticket, self.person)
        change.put(TICKETS, found.id, replace(found, state="revoked"))
        return f"ticket {found.id} is revoked"


def _key(change: Change, key: str) -> ApiKey:
    """Return an active API key by id, or the last active one of a name."""
    found = change.get(API_KEYS, key)
    if found is None:
        named = [record for _, record in rows(change, API_KEYS) if record.name == key]
        active = [record for record in named if _key_state(change, record) == "active"]
        found = max(active or named, key=lambda record: record.id, default=None)
    if found is None:
        raise InterventionRefused(f"no API key is {key[:80]!r} (by id or name)")
    state = _key_state(change, found)
    if not lifecycles.API_KEY.may(state, "revoked"):
        raise InterventionRefused(f"API key {found.id} is {state} already")
    return found


def _key_state(change: Change, key: ApiKey) -> str:
    if key.revoked:
        return "revoked"
    return "expired" if key.expires_ms <= change.now_ms else "active"


class ExpireKey(Intervention, frozen=True):
    """An API key expires now, before its 90 days are over."""

    key: str

    def apply(self, change: Change) -> str:
        found = _key(change, self.key)
        change.put(API_KEYS, found.id, replace(found, expires_ms=change.now_ms))
        return f"API key {found.name} has expired"


class RevokeKey(Intervention, frozen=True):
    """An API key is revoked."""

    key: str

    def apply(self, change: Change) -> str:
        found = _key(change, self.key)
        change.put(API_KEYS, found.id, replace(found, revoked=True))
        return f"API key {found.name} is revoked"


class LeaveKeyCreationUncertain(Intervention, frozen=True):
    """The next creations of API keys are made, but answered api_key_creation_uncertain."""

    times: Annotated[int, Meta(ge=1, le=1000)] = 1

    def apply(self, change: Change) -> str:
        fault = arm(
            change,
            {
                "abort": {"code": "api_key_creation_uncertain"},
                "call": "create_user_api_key",
                "phase": "after_commit",
                "times": self.times,
            },
        )
        return f"{fault.id} leaves the next {self.times} key creations uncertain"


class SetPlan(Intervention, frozen=True):
    """An organization changes its plan."""

    organization: str
    plan: Literal["free", "paid"]

    def apply(self, change: Change) -> str:
        found = find_organization(change, self.organization)
        change.put(ORGANIZATIONS, found.id, replace(found, plan=self.plan))
        return f"{found.alias} is on the {self.plan} plan"


class SetCredits(Intervention, frozen=True):
    """An organization has so many credits."""

    organization: str
    credits: Annotated[int, Meta(ge=0, le=1_000_000_000)]

    def apply(self, change: Change) -> str:
        found = find_organization(change, self.organization)
        change.put(ORGANIZATIONS, found.id, replace(found, credits=self.credits))
        return f"{found.alias} has {self.credits} credits"


class SetPermissions(Intervention, frozen=True):
    """An organization enables these product permissions for API keys, and no others."""

    organization: str
    permissions: list[str]

    def apply(self, change: Change) -> str:
        found = find_organization(change, self.organization)
        for name in self.permissions:
            if name not in PERMISSIONS:
                hint = nearest(name, PERMISSIONS) or f"; there are {', '.join(PERMISSIONS)}"
                raise InterventionRefused(f"there is no permission {name[:80]!r}{hint}")
        permissions = tuple(name for name in PERMISSIONS if name in self.permissions)
        change.put(ORGANIZATIONS, found.id, replace(found, permissions=permissions))
        return f"{found.alias} enables {', '.join(permissions) or 'no permission'}"


class AddMember(Intervention, frozen=True):
    """A person joins an organization, or changes their role in it."""

    organization: str
    person: str
    role: Literal["owner", "member"] = "member"

    def apply(self, change: Change) -> str:
        organization = find_organization(change, self.organization)
        person = find_person(change, self.person)
        membership = Membership(organization.id, person.id, self.role)
        change.put(MEMBERSHIPS, f"{organization.id}/{person.id}", membership)
        return f"{person.alias} is {self.role} of {organization.alias}"


class RemoveMember(Intervention, frozen=True):
    """A person leaves an organization; tokens and keys they hold lose its scope at once."""

    organization: str
    person: str

    def apply(self, change: Change) -> str:
        organization = find_organization(change, self.organization)
        person = find_person(change, self.person)
        key = f"{organization.id}/{person.id}"
        if change.get(MEMBERSHIPS, key) is None:
            raise InterventionRefused(f"{person.alias} does not belong to {organization.alias}")
        change.delete(MEMBERSHIPS, key)
        return f"{person.alias} no longer belongs to {organization.alias}"


class SetRole(Intervention, frozen=True):
    """A person has this role in a project, or none."""

    project: str
    person: str
    role: Literal["owner", "maintainer", "reader", "none"]

    def apply(self, change: Change) -> str:
        project, person = find_project(change, self.project), find_person(change, self.person)
        membership = change.get(MEMBERSHIPS, f"{project.organization_id}/{person.id}")
        if membership is None:
            raise InterventionRefused(
                f"{person.alias} does not belong to the organization of {project.alias}; use "
                "add_member first"
            )
        if membership.role == "owner":
            raise InterventionRefused(
                f"{person.alias} owns the organization of {project.alias}, and so each of its "
                "projects"
            )
        key = f"{project.id}/{person.id}"
        if self.role == "none":
            if change.get(GRANTS, key) is None:
                raise InterventionRefused(f"{person.alias} has no role in {project.alias}")
            change.delete(GRANTS, key)
            return f"{person.alias} has no role in {project.alias}"
        change.put(GRANTS, key, Grant(project.id, person.id, self.role))
        return f"{person.alias} is {self.role} of {project.alias}"


class TransferOwnership(Intervention, frozen=True):
    """An organization gets another owner; those who were become members."""

    organization: str
    to: str

    def apply(self, change: Change) -> str:
        organization, heir = (
            find_organization(change, self.organization),
            find_person(change, self.to),
        )
        heirs = f"{organization.id}/{heir.id}"
        owners = {
            key: membership
            for key, membership in rows(change, MEMBERSHIPS)
            if membership.organization_id == organization.id and membership.role == "owner"
        }
        if heirs in owners:
            raise InterventionRefused(f"{heir.alias} owns {organization.alias} already")
        for key, membership in owners.items():
            change.put(MEMBERSHIPS, key, replace(membership, role="member"))
        change.put(MEMBERSHIPS, heirs, Membership(organization.id, heir.id, "owner"))
        return f"{heir.alias} owns {organization.alias}"
