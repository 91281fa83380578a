"""Interventions that change a project's DNS authorization, databases and custom domain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world.condition_records import DatabaseStatus
from hosting_emulator.world.dns_authorizations import (
    LIFETIME,
    default_zone,
    find_impossible_dns,
    move_dns_authorization,
)
from hosting_emulator.world.population_parts import (
    DNS_NAME,
)
from hosting_emulator.world.record_base import DataMode
from hosting_emulator.world.records import (
    Database,
    Placement,
    Project,
)
from hosting_emulator.world.tables import (
    DATABASES,
    ORGANIZATIONS,
    PROJECTS,
)
from hosting_emulator.world.value import Change


@intervention(project="blog", to="authorized", expires_in="10m")
def move_dns(
    change: Change,
    project: Project,
    to: Literal["pending", "authorized", "expired", "revoked"],
    zone: str | None = None,
    expires_in: Duration | None = None,
) -> str:
    """A project's DNS authorization becomes pending, authorized, expired or revoked.

    `zone` is the customer's zone, which can change when the authorization becomes pending or
    authorized. `expires_in` is how long a new authorization is valid, in world time, at least 1ms
    (default: 30d).
    """
    reason = find_impossible_dns(change, project, to)
    if reason is not None:
        raise DocumentRefused(reason)
    _check_dns_options(to, zone, expires_in)
    zone = zone or default_zone(change, project)
    _check_dns_name(zone, "zone")
    move_dns_authorization(change, project, to, zone, expires_in or LIFETIME)
    return f"the DNS authorization of {project.alias} is {to}"


def _check_dns_options(to: str, zone: str | None, expires_in: str | None) -> None:
    """Raise DocumentRefused if an option of move_dns makes no sense for the new state."""
    if zone is not None and to not in ("pending", "authorized"):
        raise DocumentRefused(
            f"an authorization that becomes {to} keeps its zone; leave out `zone`, or use it with "
            "to: pending or to: authorized",
            "zone",
        )
    if expires_in is None:
        return
    if to != "authorized":
        raise DocumentRefused(
            f"expires_in cannot be set for an authorization that becomes {to}; leave out "
            "`expires_in`, or use it with to: authorized",
            "expires_in",
        )
    try:
        lifetime_ms = parse_duration_ms(expires_in)
    except ValueError as error:
        raise DocumentRefused(str(error), "expires_in") from None
    if lifetime_ms == 0:
        raise DocumentRefused(
            f"expires_in: {expires_in} would end the authorization immediately; write a longer "
            "duration, or use to: authorized first and to: expired afterwards",
            "expires_in",
        )


Environment = Literal["dev", "prod", "both"]


@intervention(project="shop", environment="dev")
def fail_database_provider(
    change: Change, project: Project, environment: Environment = "both"
) -> str:
    """The provider of a project's databases starts failing, so read_database_compute returns a
    problem.
    """
    return _set_provider_failing(change, project, environment, failing=True)


@intervention(project="shop", environment="dev")
def recover_database_provider(
    change: Change, project: Project, environment: Environment = "both"
) -> str:
    """The provider of a project's databases works again."""
    return _set_provider_failing(change, project, environment, failing=False)


def _set_provider_failing(
    change: Change, project: Project, environment: Environment, *, failing: bool
) -> str:
    databases = _databases(change, project, environment)
    verb = "fails" if failing else "works"
    subject = f"the database provider of {project.alias}"
    scope = " and ".join(databases)
    if all(record.provider_failing == failing for record in databases.values()):
        raise DocumentRefused(f"{subject} already {verb} ({scope})")
    for name, record in databases.items():
        change.put(DATABASES, f"{project.id}/{name}", replace(record, provider_failing=failing))
    return f"{subject} {verb} ({scope})"


def _databases(change: Change, project: Project, environment: Environment) -> dict[str, Database]:
    """Return the databases of one or both environments. A shared database is part of both."""
    databases = {
        name: change.get(DATABASES, f"{project.id}/{name}") or Database("separate")
        for name in ("dev", "prod")
    }
    if environment == "both" or any(
        database.data_mode == "shared" for database in databases.values()
    ):
        return databases
    return {environment: databases[environment]}


@intervention(project="shop", environment="prod", state="suspended")
def set_database(
    change: Change,
    project: Project,
    environment: Environment = "both",
    state: DatabaseStatus | None = None,
    pending_state: Literal["init", "ready", "suspended", "resizing", "failed"] | None = None,
    data_mode: DataMode | None = None,
    suspend_timeout_seconds: Annotated[int, Meta(ge=-1, le=604_800)] | None = None,
) -> str:
    """A project's database changes its state or other properties.

    A database that is absent has no placement. With data_mode `shared`, both environments share one
    database.
    """
    details = {"pending_state": pending_state, "suspend_timeout_seconds": suspend_timeout_seconds}
    details = {name: value for name, value in details.items() if value is not None}
    if not details and (state, data_mode) == (None, None):
        raise DocumentRefused(
            "set at least one of state, pending_state, data_mode and suspend_timeout_seconds"
        )
    if state == "absent" and details:
        raise DocumentRefused("an absent database has no properties except its state")
    if data_mode is not None and environment != "both":
        raise DocumentRefused("data_mode applies to both environments; leave out `environment`")
    databases = _databases(change, project, environment)
    before = databases
    if "shared" in (data_mode, *(record.data_mode for record in databases.values())):
        # Both environments share one physical database (contract, section DatabaseCompute). Only
        # one of the two records can remain, so prefer that of dev.
        database = min(databases.values(), key=lambda record: record.placement is None)
        before = dict.fromkeys(databases, database)
    for name, record in before.items():
        placement = _new_placement(record.placement, state, details)
        record = replace(record, data_mode=data_mode or record.data_mode, placement=placement)
        change.put(DATABASES, f"{project.id}/{name}", record)
    new_state = state or data_mode or "changed"
    return f"the database of {project.alias} ({' and '.join(databases)}) is {new_state}"


def _new_placement(
    before: Placement | None, state: str | None, details: Mapping[str, object]
) -> Placement | None:
    """Return the placement of a changed database, or None if the database is absent.

    Raises DocumentRefused if other properties of an absent database are set without a state.
    """
    if before is None and state is None and details:
        raise DocumentRefused("the database is absent; set the state of the database too")
    if state == "absent" or (before is None and state is None):
        return None
    after = before or Placement(0.25, 1.0, 1.0, 4.0, 300, "init", False, "eu-central-1")
    if state is not None:
        after = replace(after, state=state, pending_state=None)
    return replace(after, **details)


@intervention(project="garden", domain="garden.example")
def connect_domain(change: Change, project: Project, domain: str) -> str:
    """A project gets its own domain. In a Free workspace, its powered-by flag must be on."""
    _check_dns_name(domain, "domain")
    plan = change.row(ORGANIZATIONS, project.organization_id).plan
    if plan == "free" and not project.flag_enabled:
        raise DocumentRefused(
            f"{project.alias} is in a Free workspace, where a project with its own domain must "
            "show the flag"
        )
    change.put(PROJECTS, project.id, replace(project, custom_domain=domain))
    return f"{project.alias} has the domain {domain}"


def _check_dns_name(text: str, noun: str) -> None:
    """Raise DocumentRefused if a string is not a DNS name. `noun` says what the string is supposed
    to be.
    """
    if not 4 <= len(text) <= 253 or not re.fullmatch(DNS_NAME, text):
        raise DocumentRefused(f"{text[:80]!r} is not a {noun}, such as example.com")


@intervention(project="garden")
def disconnect_domain(change: Change, project: Project) -> str:
    """A project loses its own domain."""
    if project.custom_domain is None:
        raise DocumentRefused(f"{project.alias} has no domain of its own")
    change.put(PROJECTS, project.id, replace(project, custom_domain=None))
    return f"{project.alias} no longer has {project.custom_domain}"
