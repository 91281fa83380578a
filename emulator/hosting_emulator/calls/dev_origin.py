"""What becomes of a ticket at a project's dev origin.

To a stranger, a ticket that is unknown, used, expired, revoked or of another origin looks the same.
"""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.calls.access import role_of
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.naming import zone_of
from hosting_emulator.world.records import Project, Ticket
from hosting_emulator.world.streams import digest, new_secret
from hosting_emulator.world.tables import PROJECTS, TICKETS
from hosting_emulator.world.value import Change


def project_at(change: Change, host: str) -> Project | None:
    """Return the project whose dev host this is (without port), or None."""
    label, _, zone = host.lower().partition(".")
    if zone != zone_of(change.world.name, change.assumptions.dev_zone):
        return None
    project_id = change.world.indexes.get(f"dev:{label}")
    return change.get(PROJECTS, project_id) if project_id else None


def ticketed_project(change: Change, secret: str) -> Project | None:
    """Return the project that a ticket was issued for, also where it is no longer good."""
    ticket = _ticket_of(change, secret)
    return None if ticket is None else change.get(PROJECTS, ticket.project_id)


def _ticket_of(change: Change, secret: str) -> Ticket | None:
    ticket_id = change.world.indexes.get(f"ticket:{digest(secret)}")
    return change.get(TICKETS, ticket_id) if ticket_id else None


def redeem(change: Change, project: Project, secret: str) -> str:
    """Use a ticket up and return the secret of the session it opens. Raises Refused."""
    ticket = _ticket_of(change, secret)
    if why := _why_refused(change, project, ticket):
        detail = "This ticket cannot be redeemed here: ask for a new one."
        raise Refused("resource_not_found", detail, why=why)
    assert ticket is not None
    session = new_secret(change, "secrets")
    used = replace(ticket, state="used", session_digest=digest(session), used_ms=change.now_ms)
    change.put(TICKETS, ticket.id, used)
    return f"{ticket.id}.{session}"


def _why_refused(change: Change, project: Project, ticket: Ticket | None) -> str | None:
    if ticket is None:
        return "no ticket has this secret"
    if ticket.project_id != project.id:
        return f"the ticket is for project {ticket.project_id}"
    if ticket.state != "unused":
        return f"the ticket is {ticket.state}"
    former = change.assumptions.former_owners_ticket == "refused"
    if former and role_of(change, ticket.principal, project) != "owner":
        return "the user who got the ticket is no longer owner"
    over = change.assumptions.is_over(ticket.expires_ms, change.now_ms)
    return "the ticket has expired" if over else None


def session_of(change: Change, project: Project, cookie: str) -> Ticket | None:
    """Return the ticket that opened this session at this project's origin, or None."""
    ticket_id, _, session = cookie.partition(".")
    ticket = change.get(TICKETS, ticket_id)
    if ticket is None or ticket.used_ms is None or ticket.session_digest != digest(session):
        return None
    ends_ms = ticket.used_ms + parse_duration_ms(change.assumptions.dev_session_lifetime)
    over = change.assumptions.is_over(ends_ms, change.now_ms)
    return None if over or ticket.project_id != project.id else ticket
