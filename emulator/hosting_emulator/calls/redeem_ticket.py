"""Redeeming a ticket at the dev origin, and knowing the session it opened again.

To a stranger, a ticket that is unknown, used, expired, revoked or of another origin looks the same.
"""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.naming import zone_of
from hosting_emulator.world.records import Project, Ticket
from hosting_emulator.world.streams import digest, new_secret
from hosting_emulator.world.tables import PROJECTS, TICKETS
from hosting_emulator.world.value import Change

#: A dev session lasts as long as a working day; the contract does not speak of it.
SESSION_MS = 12 * 3_600_000


def project_at(change: Change, host: str) -> Project | None:
    """Return the project whose dev host this is (without port), or None."""
    label, _, zone = host.lower().partition(".")
    if zone != zone_of(change.world.name, change.assumptions.dev_zone):
        return None
    project_id = change.world.indexes.get(f"dev:{label}")
    return change.get(PROJECTS, project_id) if project_id else None


def redeem(change: Change, project: Project, secret: str) -> str:
    """Use a ticket up and return the secret of the session it opens. Raises Refused."""
    ticket_id = change.world.indexes.get(f"ticket:{digest(secret)}")
    ticket = change.get(TICKETS, ticket_id) if ticket_id else None
    if why := _why_refused(change, project, ticket):
        status = change.assumptions.ticket_refused_status
        raise Refused(
            "resource_not_found",
            "This ticket cannot be redeemed here: ask for a new one.",
            status=status if status != 404 else None,
            why=why,
        )
    assert ticket is not None
    session = new_secret(change, "secrets")
    used = replace(ticket, state="used", session_digest=digest(session))
    change.put(TICKETS, ticket.id, used)
    return f"{ticket.id}.{session}"


def _why_refused(change: Change, project: Project, ticket: Ticket | None) -> str | None:
    if ticket is None:
        return "no ticket has this secret"
    if ticket.project_id != project.id:
        return f"the ticket is for project {ticket.project_id}"
    if ticket.state != "unused":
        return f"the ticket is {ticket.state}"
    return "the ticket has expired" if ticket.expires_ms <= change.now_ms else None


def session_of(change: Change, project: Project, cookie: str) -> Ticket | None:
    """Return the ticket that opened this session at this project's origin, or None."""
    ticket_id, _, session = cookie.partition(".")
    ticket = change.get(TICKETS, ticket_id)
    if ticket is None or ticket.session_digest != digest(session):
        return None
    if ticket.project_id != project.id or ticket.expires_ms + SESSION_MS <= change.now_ms:
        return None
    return ticket
