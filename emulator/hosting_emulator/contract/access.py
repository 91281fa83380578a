"""Access rules: the roles and permissions that a call requires."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

#: The roles in a project. Each role includes the rights of the roles listed after it.
Role = Literal["owner", "maintainer", "reader"]
Permission = Literal[
    "projects.read",
    "projects.write",
    "domains.write",
    "deployments.read",
    "database.read",
    "dns.read",
    "dev_access.write",
]
#: The seven product permissions that an API key can have, in the order used by the
#: `key_permissions` assumption.
PERMISSIONS: tuple[str, str, str, str, str, str, str] = get_args(Permission)

#: The word that stands for the sender of a request without a valid token or API key. It is used where
#: the alias of a user is expected, so no user can have this alias.
NOBODY = "nobody"


class AssumedRole(Struct, frozen=True):
    """A minimum role that is set by an assumption, because the contract does not name one."""

    assumption: Literal[
        "source_role", "domains_role", "dns_role", "deployments_role", "operation_role"
    ]


class ProjectAccess(Struct, frozen=True):
    """Access for callers whose role in the project is at least `role`.

    An API key also needs the `permission`.
    """

    role: Role | AssumedRole
    permission: Permission


class OrganizationAccess(Struct, frozen=True, kw_only=True):
    """Access for members of the organization.

    If `interactive` is true, the member also needs a current interactive user session.
    """

    interactive: bool
