"""Interventions on a project's DNS authorization, databases and domain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.interventions.base import Intervention, InterventionRefused, find_project
from hosting_emulator.world import lifecycles
from hosting_emulator.world.records import Database, Dns, Placement, Project
from hosting_emulator.world.schedule import schedule_dns_expiry
from hosting_emulator.world.tables import DATABASES, DNS, ORGANIZATIONS, PROJECTS
from hosting_emulator.world.value import Change

_ZONE = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")


class MoveDns(Intervention, frozen=True):
    """A project's DNS authorization takes the next step: pending, authorized, expired or revoked.

    `zone` is the customer's zone, `expires_in` how long an authorization lasts (world time).
    """

    project: str
    to: Literal["pending", "authorized", "expired", "revoked"]
    zone: str | None = None
    expires_in: str = "30d"

    def apply(self, change: Change) -> str:
        project = find_project(change, self.project)
        dns = change.get(DNS, project.id) or Dns()
        if not lifecycles.DNS_AUTHORIZATION.may(dns.status, self.to):
            following = " or ".join(sorted(lifecycles.DNS_AUTHORIZATION.transitions[dns.status]))
            raise InterventionRefused(
                f"the DNS authorization of {project.alias} is {dns.status}; from there it can only "
                f"become {following}"
            )
        zone = self.zone or dns.zone or f"{project.handle}.example"
        if not _ZONE.fullmatch(zone):
            raise InterventionRefused(f"{zone[:80]!r} is no zone: write it like example.com")
        expires_ms = dns.expires_ms
        if self.to in ("pending", "authorized"):
            expires_ms = change.now_ms + _duration(self.expires_in)
        elif self.to == "expired":
            expires_ms = change.now_ms
        change.put(DNS, project.id, Dns(self.to, zone, ("dns.write", "zone.read"), expires_ms))
        if self.to == "authorized" and expires_ms is not None:
            schedule_dns_expiry(change, project.id, expires_ms)
        return f"the DNS authorization of {project.alias} is {self.to}"


def _duration(text: str) -> int:
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        raise InterventionRefused(str(error)) from None


Environment = Literal["dev", "prod", "both"]


class _OfDatabases(Intervention, frozen=True):
    project: str
    environment: Environment = "both"

    def databases(self, change: Change) -> tuple[Project, dict[str, Database]]:
        """Return what is meant, by key: a shared database is both environments' at once."""
        project = find_project(change, self.project)
        keys = [f"{project.id}/{environment}" for environment in ("dev", "prod")]
        found = {key: change.get(DATABASES, key) or Database("separate") for key in keys}
        if self.environment == "both" or any(r.data_mode == "shared" for r in found.values()):
            return project, found
        key = f"{project.id}/{self.environment}"
        return project, {key: found[key]}


def _environments(keys: Iterable[str]) -> str:
    return " and ".join(key.rpartition("/")[2] for key in keys)


class _Provider(_OfDatabases, frozen=True):
    def turn(self, change: Change, *, failing: bool) -> str:
        """Let the provider fail or answer; refused where it does so already."""
        project, found = self.databases(change)
        does = "fails" if failing else "answers"
        said = f"the database provider of {project.alias} {does} ({_environments(found)})"
        if all(record.provider_failing == failing for record in found.values()):
            raise InterventionRefused(f"{said} already")
        for key, record in found.items():
            change.put(DATABASES, key, replace(record, provider_failing=failing))
        return said


class FailDatabaseProvider(_Provider, frozen=True):
    """The provider of a project's databases fails: reading their compute answers a problem."""

    def apply(self, change: Change) -> str:
        return self.turn(change, failing=True)


class RecoverDatabaseProvider(_Provider, frozen=True):
    """The provider of a project's databases answers again."""

    def apply(self, change: Change) -> str:
        return self.turn(change, failing=False)


class SetDatabase(_OfDatabases, frozen=True):
    """A project's database is in this state, absent (no placement), or shared by both environments."""

    state: Literal["absent", "init", "ready", "suspended", "resizing", "failed"] | None = None
    pending_state: Literal["init", "ready", "suspended", "resizing", "failed"] | None = None
    data_mode: Literal["shared", "separate"] | None = None
    suspend_timeout_seconds: Annotated[int, Meta(ge=-1, le=604_800)] | None = None

    def apply(self, change: Change) -> str:
        self._check_sense()
        project, found = self.databases(change)
        before = found
        if "shared" in (self.data_mode, *(record.data_mode for record in found.values())):
            # One physical database for both environments (contract, DatabaseCompute): dev's.
            one = min(found.values(), key=lambda record: record.placement is None)
            before = dict.fromkeys(found, one)
        for key, record in before.items():
            mode = self.data_mode or record.data_mode
            changed = replace(record, data_mode=mode, placement=self._placement(record.placement))
            change.put(DATABASES, key, changed)
        said = self.state or self.data_mode or "changed"
        return f"the database of {project.alias} ({_environments(found)}) is {said}"

    def _check_sense(self) -> None:
        details = (self.pending_state, self.suspend_timeout_seconds)
        if (self.state, self.data_mode, *details) == (None,) * 4:
            raise InterventionRefused(
                "say what changes: state, pending_state, data_mode or suspend_timeout_seconds"
            )
        if self.state == "absent" and details != (None, None):
            raise InterventionRefused("a database that is absent has a state and nothing else")
        if self.data_mode is not None and self.environment != "both":
            raise InterventionRefused(
                "data_mode is that of both environments: leave environment out"
            )

    def _placement(self, before: Placement | None) -> Placement | None:
        if self.state == "absent":
            return None
        if before is None and self.state is None:
            if (self.pending_state, self.suspend_timeout_seconds) != (None, None):
                raise InterventionRefused("the database is absent; give it a state too")
            return None
        found = before or Placement(0.25, 1.0, 1.0, 4.0, 300, "init", False, "eu-central-1")
        if self.state is not None:
            found = replace(found, state=self.state, pending_state=self.pending_state)
        elif self.pending_state is not None:
            found = replace(found, pending_state=self.pending_state)
        if self.suspend_timeout_seconds is not None:
            found = replace(found, suspend_timeout_seconds=self.suspend_timeout_seconds)
        return found


class ConnectDomain(Intervention, frozen=True):
    """A project has a domain of its own; in a Free workspace that depends on the flag being shown."""

    project: str
    domain: str

    def apply(self, change: Change) -> str:
        project = find_project(change, self.project)
        if not _ZONE.fullmatch(self.domain):
            raise InterventionRefused(
                f"{self.domain[:80]!r} is no domain: write it like example.com"
            )
        plan = change.row(ORGANIZATIONS, project.organization_id).plan
        if plan == "free" and not project.flag_enabled:
            raise InterventionRefused(
                f"{project.alias} is in a Free workspace, where a domain needs the flag to be shown"
            )
        change.put(PROJECTS, project.id, replace(project, custom_domain=self.domain))
        return f"{project.alias} has the domain {self.domain}"


class DisconnectDomain(Intervention, frozen=True):
    """A project gives up its own domain."""

    project: str

    def apply(self, change: Change) -> str:
        project = find_project(change, self.project)
        if project.custom_domain is None:
            raise InterventionRefused(f"{project.alias} has no domain of its own")
        change.put(PROJECTS, project.id, replace(project, custom_domain=None))
        return f"{project.alias} gave up {project.custom_domain}"
