"""Checks a world's description for unknown names, duplicate values and other mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hosting_emulator.contract.access import NOBODY, PERMISSIONS
from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.world.default_population import SECTIONS
from hosting_emulator.world.population import organization_of
from hosting_emulator.world.population_parts import (
    KEY_VALUE,
    STORED_KEY,
    KeyPart,
    OrganizationPart,
    ProjectPart,
    UserPart,
    WorldPart,
    default_email,
)
from hosting_emulator.world.streams import SECRET_LENGTH

_RESERVED = (
    f"the alias {NOBODY!r} is reserved, because it stands for requests without a valid token or API "
    "key: choose another alias"
)
#: A mistake: its path in the description, and a message.
Mistake = tuple[tuple[str | int, ...], str]


def find_mistakes(part: WorldPart, whole: WorldPart, now_ms: int, prefix: str) -> Iterator[Mistake]:
    """Yield the mistakes in `part`, which is part of the description `whole`.

    `prefix` is the prefix that API keys have in this world.
    """
    aliases = {section: [item.alias for item in getattr(whole, section)] for section in SECTIONS}
    for section in SECTIONS:
        yield from _repeated_values(section, getattr(part, section), getattr(whole, section))
    for i, organization in enumerate(part.organizations):
        yield from _unknown_permissions(organization, i)
    for i, project in enumerate(part.projects):
        yield from _project_mistakes(project, i, aliases["organizations"], now_ms)
    for i, user in enumerate(part.users):
        if user.alias == NOBODY:
            yield ("users", i, "alias"), _RESERVED
        yield from _unknown_roles(user, i, aliases)
    for i, key in enumerate(part.keys):
        if key.digest in [earlier.digest for earlier in part.keys[:i]]:
            yield ("keys", i, "value"), "an earlier key has the same value"
        for field, message in _key_mistakes(key, whole, prefix):
            yield ("keys", i, field), message


def _repeated_values(section: str, added: Sequence[Any], whole: Sequence[Any]) -> Iterator[Mistake]:
    """Yield a mistake for each alias, id, handle or email address that is already in use."""
    earlier = [item for item in whole if not any(item is new_item for new_item in added)]
    for field in ("alias", "id", "handle", "email"):
        owners = {_value_of(item, field): item for item in earlier}
        new_owners: dict[str | None, Any] = {}
        for i, item in enumerate(added):
            value = _value_of(item, field)
            owner = new_owners.get(value)
            where = "above"
            if owner is None:
                owner = owners.get(value)
                where = "in this world: choose another value"
            new_owners[value] = item
            if value is None or owner is None:
                continue
            # Two items with the same alias also share default values, so report only the alias.
            if field == "alias" or owner.alias != item.alias:
                yield (section, i, field), f"the {field} {value!r} is already used {where}"


def _value_of(item: Any, field: str) -> str | None:
    """Return the value of a field, or its default value, or None if it has neither."""
    value: str | None = getattr(item, field, None)
    if value or not hasattr(item, field):
        return value
    if field == "handle":
        return str(item.alias)
    if field == "email":
        return default_email(item.alias)
    return None


def _unknown_permissions(organization: OrganizationPart, index: int) -> Iterator[Mistake]:
    for j, permission in enumerate(organization.permissions or ()):
        if permission not in PERMISSIONS:
            message = unknown("permission", permission, PERMISSIONS)
            yield ("organizations", index, "permissions", j), message


def _project_mistakes(
    project: ProjectPart, index: int, organizations: Sequence[str], now_ms: int
) -> Iterator[Mistake]:
    database = project.database
    if database.data_mode == "shared" and database.dev != database.prod:
        message = "both environments share a database: give dev and prod the same state"
        yield ("projects", index, "database"), message
    if project.organization not in organizations:
        message = unknown("organization", project.organization, organizations)
        yield ("projects", index, "organization"), message
    if isinstance(project.deployments, int):
        return
    for j, deployment in enumerate(project.deployments):
        try:
            deployment.began_ms(now_ms, 0)
        except ValueError as error:
            yield ("projects", index, "deployments", j), str(error)


def _unknown_roles(user: UserPart, index: int, aliases: dict[str, list[str]]) -> Iterator[Mistake]:
    for section in ("organizations", "projects"):
        noun = section.removesuffix("s")
        for alias in getattr(user, section):
            if alias not in aliases[section]:
                yield ("users", index, section, alias), unknown(noun, alias, aliases[section])


def _key_mistakes(key: KeyPart, whole: WorldPart, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each invalid field of a key, with a message."""
    is_value = re.fullmatch(KEY_VALUE, key.value) and key.value.startswith(prefix)
    if not is_value and not re.fullmatch(STORED_KEY, key.value):
        # Do not show the value in the message, because it may be a secret.
        form = f"{prefix} and {SECRET_LENGTH} characters from A-Z a-z 0-9 _ -"
        yield (
            "value",
            (
                f"the value of a key must be {form}, or sha256: followed by the digest of the whole value "
                "in lowercase hexadecimal"
            ),
        )
    memberships = {user.alias: user.organizations for user in whole.users}
    if key.user not in memberships:
        yield "user", unknown("user", key.user, memberships)
        return
    alias = organization_of(key, whole)
    if alias not in memberships[key.user]:
        others = ", ".join(memberships[key.user]) or "none"
        message = (
            f"{key.user} is not a member of {alias or 'any organization'}; "
            f"the user's organizations: {others}"
        )
        yield "organization", message
    enabled: Sequence[str] = PERMISSIONS
    for organization in whole.organizations:
        if organization.alias == alias and organization.permissions is not None:
            enabled = organization.permissions
    for permission in key.permissions or ():
        if permission not in enabled:
            yield "permissions", unknown("permission", permission, enabled)
