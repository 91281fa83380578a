"""Moves a project's DNS authorization from one state to another."""

from __future__ import annotations

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.world import lifecycles
from hosting_emulator.world.records import Dns, Project
from hosting_emulator.world.schedule import schedule_event
from hosting_emulator.world.tables import DNS, ORGANIZATIONS
from hosting_emulator.world.value import Change

#: The default lifetime of an authorization, in world time.
LIFETIME = "30d"


def dns_status(change: Change, project: Project) -> str:
    """Return the state of a project's DNS authorization."""
    dns = change.get(DNS, project.id) or Dns()
    return dns.status


def find_impossible_dns(change: Change, project: Project, to: str) -> str | None:
    """Return why a project's DNS authorization cannot move to state `to` now, or None if it can."""
    status = dns_status(change, project)
    lifecycle = lifecycles.DNS_AUTHORIZATION
    if lifecycle.may(status, to):
        return None
    following = " or ".join(sorted(lifecycle.transitions[status]))
    return f"the DNS authorization of {project.alias} is {status} and can only become {following}"


def default_zone(change: Change, project: Project) -> str:
    """Return the zone of a project's DNS authorization, or a default zone if there is none.

    The default is the zone of the project's custom domain. If the project has no custom domain, the
    default is derived from its organization.
    """
    dns = change.get(DNS, project.id)
    if dns is not None and dns.zone is not None:
        return dns.zone
    if project.custom_domain is None:
        return f"{change.row(ORGANIZATIONS, project.organization_id).alias}.example"
    _, _, parent = project.custom_domain.partition(".")
    return parent if "." in parent else project.custom_domain


def move_dns_authorization(
    change: Change, project: Project, to: str, zone: str | None = None, lifetime: str = LIFETIME
) -> None:
    """Move a project's DNS authorization to a state, and schedule its expiry if it expires in that
    state.

    Raises ValueError if the lifecycle does not allow the transition, or if `lifetime` is not a
    valid duration.
    """
    dns = change.get(DNS, project.id) or Dns()
    lifecycle = lifecycles.DNS_AUTHORIZATION
    lifecycle.move(dns.status, to)
    expires_ms = dns.expires_ms
    if to in ("pending", "authorized"):
        expires_ms = change.now_ms + parse_duration_ms(lifetime)
    elif to == "expired":
        expires_ms = change.now_ms
    zone = zone or default_zone(change, project)
    change.put(DNS, project.id, Dns(to, zone, ("dns.write", "zone.read"), expires_ms))
    if lifecycle.may(to, "expired") and expires_ms is not None:
        schedule_event(change, expires_ms, "dns_expiry", project.id)
