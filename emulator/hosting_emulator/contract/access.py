"""Access: who may make a call, as a value of a type. Roles and permissions are the contract's."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

#: The roles in a project. Each may do all that the next may.
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
#: The seven product permissions of an API key, in the order in which `key_permissions` renames them.
PERMISSIONS: tuple[str, str, str, str, str, str, str] = get_args(Permission)


class AssumedRole(Struct, frozen=True):
    """A least role that the contract does not name: an assumption does."""

    assumption: Literal[
        "source_role", "domains_role", "dns_role", "deployments_role", "operation_role"
    ]


class ProjectAccess(Struct, frozen=True):
    """Callers with at least a role in the project. An API key needs a permission, too."""

    role: Role | AssumedRole
    permission: Permission


class OrganizationAccess(Struct, frozen=True, kw_only=True):
    """Every member of the organization; with `interactive`, only in a current user session."""

    interactive: bool
