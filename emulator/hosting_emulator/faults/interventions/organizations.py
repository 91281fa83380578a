"""Interventions that change an organization's plan, credits, permissions, members and owner."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.access import PERMISSIONS, Role
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world.record_base import Plan
from hosting_emulator.world.records import (
    Grant,
    Membership,
    Organization,
    OrganizationRole,
    Project,
    User,
)
from hosting_emulator.world.tables import (
    GRANTS,
    MEMBERSHIPS,
    ORGANIZATIONS,
)
from hosting_emulator.world.value import Change


@intervention(organization="acme", plan="free")
def set_plan(change: Change, organization: Organization, plan: Plan) -> str:
    """An organization is moved to a different plan."""
    change.put(ORGANIZATIONS, organization.id, replace(organization, plan=plan))
    return f"{organization.alias} is on the {plan} plan"


@intervention(organization="acme", credits=0)
def set_credits(
    change: Change,
    organization: Organization,
    credits: Annotated[int, Meta(ge=0, le=1_000_000_000)],
) -> str:
    """An organization's credits are set to a number."""
    change.put(ORGANIZATIONS, organization.id, replace(organization, credits=credits))
    return f"{organization.alias} has {credits} credits"


@intervention(organization="acme", permissions=["projects.read"])
def set_permissions(change: Change, organization: Organization, permissions: list[str]) -> str:
    """An organization enables these product permissions for API keys, and no others."""
    for name in permissions:
        if name not in PERMISSIONS:
            raise DocumentRefused(unknown("permission", name, PERMISSIONS))
    enabled = tuple(name for name in PERMISSIONS if name in permissions)
    change.put(ORGANIZATIONS, organization.id, replace(organization, permissions=enabled))
    return f"{organization.alias} enables {', '.join(enabled) or 'no permission'}"


@intervention(organization="acme", user="outsider", role="member")
def add_member(
    change: Change,
    organization: Organization,
    user: User,
    role: OrganizationRole = "member",
) -> str:
    """A user joins an organization, or gets a different role in it."""
    membership = Membership(organization.id, user.id, role)
    change.put(MEMBERSHIPS, f"{organization.id}/{user.id}", membership)
    return f"{user.alias} now has the {role} role in {organization.alias}"


@intervention(organization="acme", user="member")
def remove_member(change: Change, organization: Organization, user: User) -> str:
    """A user leaves an organization. The user's tokens and keys lose access to it immediately."""
    key = f"{organization.id}/{user.id}"
    if change.get(MEMBERSHIPS, key) is None:
        raise DocumentRefused(f"{user.alias} does not belong to {organization.alias}")
    change.delete(MEMBERSHIPS, key)
    return f"{user.alias} no longer belongs to {organization.alias}"


@intervention(project="shop", user="reader", role="maintainer")
def set_role(
    change: Change,
    project: Project,
    user: User,
    role: Literal[Role, "none"],
) -> str:
    """A user gets a role in a project. With `none`, the user loses the role."""
    membership = change.get(MEMBERSHIPS, f"{project.organization_id}/{user.id}")
    if membership is None:
        raise DocumentRefused(
            f"{user.alias} does not belong to the organization of {project.alias}; use "
            "add_member first"
        )
    if membership.role == "owner":
        raise DocumentRefused(
            f"{user.alias} owns the organization of {project.alias}, and therefore all of its projects"
        )
    key = f"{project.id}/{user.id}"
    if role == "none":
        if change.get(GRANTS, key) is None:
            raise DocumentRefused(f"{user.alias} has no role in {project.alias}")
        change.delete(GRANTS, key)
        return f"{user.alias} no longer has a role in {project.alias}"
    change.put(GRANTS, key, Grant(project.id, user.id, role))
    return f"{user.alias} now has the {role} role in {project.alias}"


@intervention(organization="acme", to="member")
def transfer_ownership(change: Change, organization: Organization, to: User) -> str:
    """An organization gets a new owner. Previous owners become members."""
    owners = {
        key: membership
        for key, membership in change.applied().rows(MEMBERSHIPS)
        if membership.organization_id == organization.id and membership.role == "owner"
    }
    key = f"{organization.id}/{to.id}"
    if key in owners:
        raise DocumentRefused(f"{to.alias} already owns {organization.alias}")
    for other, membership in owners.items():
        change.put(MEMBERSHIPS, other, replace(membership, role="member"))
    change.put(MEMBERSHIPS, key, Membership(organization.id, to.id, "owner"))
    return f"{to.alias} now owns {organization.alias}"
