"""The format of a world's description: its organizations, users and projects.

A scenario's `world` section, a world file and the `add` intervention are all parsed into the types
in this module. The `population_checks` module checks that a description is consistent.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hosting_emulator.contract.access import NOBODY, Role
from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.json_schema import whole
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.world.condition_records import DatabaseStatus, DnsStatus
from hosting_emulator.world.record_base import DataMode, Plan
from hosting_emulator.world.records import DeploymentEnd, OrganizationRole
from hosting_emulator.world.streams import SECRET_LENGTH, digest

#: The pattern for a domain or a customer's zone (contract, section DnsAuthorization).
DNS_NAME = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$"
Alias = Annotated[
    str,
    whole("^[a-z][a-z0-9-]{0,40}$"),
    Meta(extra={"name": "1 to 41 lowercase letters, digits and hyphens, and start with a letter"}),
]
Ulid = Annotated[str, whole(ULID_PATTERN)]


class PopulationPart(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The base class for the parts of a world's description. Unknown fields are rejected."""


class OrganizationPart(PopulationPart):
    """An organization in `world`."""

    alias: Alias
    name: str | None = None
    plan: Plan = "paid"
    credits: Annotated[int, Meta(ge=0)] = 1_000
    permissions: list[str] | None = None
    id: Ulid | None = None


#: The alias of a user. The check of a world's description refuses the reserved alias.
_UserAlias = Annotated[Alias, Meta(extra_json_schema={"not": {"const": NOBODY}})]


class UserPart(PopulationPart):
    """A user in `world`, with roles in organizations and projects by alias."""

    alias: _UserAlias
    name: str | None = None
    organizations: dict[str, OrganizationRole] = {}
    projects: dict[str, Role] = {}
    id: Ulid | None = None
    email: Annotated[str, whole(r"^[^@\s]+@[^@\s]+$")] | None = None


class DatabasePart(PopulationPart):
    """The databases of a project."""

    data_mode: DataMode = "separate"
    dev: DatabaseStatus = "ready"
    prod: DatabaseStatus = "ready"


class DeploymentPart(PopulationPart):
    """A finished deployment.

    A project's deployments without `at` and `ago` start on working days, at most two per day.
    """

    status: DeploymentEnd = "ready"
    commit: Annotated[str, whole("^[0-9a-f]{40}$")] | None = None
    ago: Duration | None = None
    at: str | None = None

    def began_ms(self, start_ms: int, default_ms: int) -> int:
        """Return the time at which the deployment started. The default is `default_ms`.

        Raises ValueError if both `ago` and `at` are given, if the duration or timestamp is invalid,
        or if the timestamp is later than the world's start.
        """
        if self.ago is not None and self.at is not None:
            raise ValueError("give `ago` or `at`, not both")
        if self.ago is not None:
            return start_ms - parse_duration_ms(self.ago)
        if self.at is None:
            return default_ms
        began_ms = parse_timestamp(self.at)
        if began_ms > start_ms:
            now = format_timestamp(start_ms)
            raise ValueError(f"{self.at} is in the future: the world's time is {now}")
        return began_ms


class ProjectPart(PopulationPart):
    """A project in `world`."""

    alias: Alias
    organization: Alias
    deployments: Annotated[int, Meta(ge=0, le=100_000)] | list[DeploymentPart] = 0
    flag: bool = False
    domain: Annotated[str, Meta(min_length=4, max_length=253), whole(DNS_NAME)] | None = None
    dns: DnsStatus = "not_authorized"
    database: DatabasePart = msgspec.field(default_factory=DatabasePart)
    source_generation: Annotated[int, Meta(ge=0)] | None = None
    id: Ulid | None = None
    handle: Annotated[str, whole("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")] | None = None


#: The patterns for an API key's value and for its stored form, which contains the digest and,
#: optionally, the last characters of the value.
KEY_VALUE = f"[a-z]{{2,8}}_[A-Za-z0-9_-]{{{SECRET_LENGTH}}}"
STORED_KEY = "sha256:[0-9a-f]{64}(:[A-Za-z0-9_-]{4})?"


class KeyPart(PopulationPart):
    """A user's API key, with a value chosen by the author of the file."""

    user: Alias
    value: Annotated[str, Meta(extra_json_schema={"pattern": f"^({KEY_VALUE}|{STORED_KEY})$"})]
    organization: Alias | None = None
    name: Annotated[str, Meta(min_length=1, max_length=64)] = "of the world file"
    permissions: list[str] | None = None

    @property
    def digest(self) -> str:
        """The digest of the key's value, or an empty string if the value is invalid."""
        _, _, stored = stored_key(self.value).partition(":")
        return stored.partition(":")[0]

    @property
    def last_characters(self) -> str:
        """The last four characters of the key's value, or an empty string if they are not known."""
        _, _, stored = stored_key(self.value).partition(":")
        return stored.partition(":")[2]


class WorldPart(PopulationPart):
    """The `world` section, which describes the complete content of a world.

    With `extends`, the content is added to the default world. A scenario without this section uses
    the default world.
    """

    organizations: list[OrganizationPart] = []
    users: list[UserPart] = []
    projects: list[ProjectPart] = []
    extends: Literal["default"] | None = None
    keys: list[KeyPart] = []


def stored_key(value: str) -> str:
    """Return the stored form of an API key's value.

    Return any other text, such as a stored form, unchanged.
    """
    if re.fullmatch(KEY_VALUE, value) is None:
        return value
    return f"sha256:{digest(value)}:{value[-4:]}"


def without_key_values(document: Any) -> Any:
    """Return a copy of a document in which the values of API keys are replaced by their stored forms."""
    if isinstance(document, list):
        return [without_key_values(item) for item in document]
    if not isinstance(document, dict):
        return document
    result = {name: without_key_values(value) for name, value in document.items()}
    if isinstance(result.get("value"), str):
        result["value"] = stored_key(result["value"])
    return result


def default_email(alias: str) -> str:
    """Return the default email address of a user."""
    return f"{alias}@people.example"
