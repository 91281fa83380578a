"""Issues and redeems tickets for dev origins, and finds the sessions that redeemed tickets start.

When a ticket is refused, the response does not reveal whether the ticket is unknown, used, expired,
revoked or for a different origin.
"""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.calls.replies import success_reply
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.naming import hostnames, zone_of
from hosting_emulator.world.records import Project, Ticket
from hosting_emulator.world.streams import digest, new_id, new_secret
from hosting_emulator.world.tables import PROJECTS, TICKETS
from hosting_emulator.world.value import Change

#: The lifetime of a ticket in milliseconds: ten minutes (contract, section Limits).
TICKET_LIFETIME_MS = 600_000
#: The name of the cookie that the dev origin sets when a ticket is redeemed.
DEV_SESSION_COOKIE = "dev_access"
#: The lifetime of the cookie, in milliseconds of world time.
DEV_SESSION_LIFETIME_MS = 12 * 3_600_000
REDEEM_PATH = "/.service/dev-access/redeem"

# --- Issuing ---------------------------------------------------------------------------------------


def create_dev_access_ticket(change: Change, request: CallRequest, project: Project) -> Reply:
    """Issue a single-use ticket, and revoke the principal's earlier unused ticket."""
    principal = request.principal.user_id
    _revoke_earlier_ticket(change, principal)
    secret = new_secret(change)
    ticket = Ticket(
        id=new_id(change),
        project_id=project.id,
        principal=principal,
        digest=digest(secret),
        expires_ms=change.now_ms + TICKET_LIFETIME_MS,
    )
    change.put(TICKETS, ticket.id, ticket)
    origin = dev_origin(change, project, request.dev_port)
    document = {
        "ticket_id": ticket.id,
        "project_id": project.id,
        "environment_id": project.dev_environment_id,
        "origin": origin,
        "redeem_url": f"{origin}{REDEEM_PATH}?stage=dev&ticket={secret}",
        "expires_at": format_timestamp(ticket.expires_ms),
    }
    return success_reply(change, request, document, ticket.id)


def _revoke_earlier_ticket(change: Change, principal: str) -> None:
    # Each new ticket revokes the previous ticket, so only the most recent ticket can still be
    # unused.
    last_id = change.world.indexes.get(f"last_ticket:{principal}")
    if last_id is None:
        return
    last = change.get(TICKETS, last_id)
    if last is not None and last.state == "unused" and last.expires_ms > change.now_ms:
        change.put(TICKETS, last.id, replace(last, state="revoked"))


def dev_origin(change: Change, project: Project, port: int | None) -> str:
    """Return the https origin of a project's dev host."""
    host = hostnames(change.world.name, change.assumptions, project).development
    if port in (None, 443):
        return f"https://{host}"
    return f"https://{host}:{port}"


# --- At the dev origin -----------------------------------------------------------------------------


def project_at(change: Change, host: str) -> Project | None:
    """Return the project with this dev host (without port), or None if there is no such project."""
    label, _, zone = host.lower().partition(".")
    if zone != zone_of(change.world.name, change.assumptions.dev_zone):
        return None
    project_id = change.world.indexes.get(f"dev:{label}")
    if project_id is None:
        return None
    return change.get(PROJECTS, project_id)


def ticketed_project(change: Change, secret: str) -> Project | None:
    """Return the project for which a ticket was issued, even if the ticket is no longer valid."""
    ticket = _ticket_of(change, secret)
    if ticket is None:
        return None
    return change.get(PROJECTS, ticket.project_id)


def _ticket_of(change: Change, secret: str) -> Ticket | None:
    ticket_id = change.world.indexes.get(f"ticket:{digest(secret)}")
    if ticket_id is None:
        return None
    return change.get(TICKETS, ticket_id)


def redeem(change: Change, project: Project, secret: str) -> str:
    """Redeem a ticket, and return the cookie value for the session that this starts. Raises Refused."""
    ticket = _ticket_of(change, secret)
    reason = _why_refused(change, project, ticket)
    if ticket is None or reason is not None:
        raise Refused(
            "resource_not_found",
            "This ticket cannot be redeemed here.",
            why=reason,
            action="Create a new dev access ticket, and open its redeem_url.",
        )
    session = new_secret(change)
    used = replace(ticket, state="used", session_digest=digest(session), used_ms=change.now_ms)
    change.put(TICKETS, ticket.id, used)
    return f"{ticket.id}.{session}"


def _why_refused(change: Change, project: Project, ticket: Ticket | None) -> str | None:
    """Return why a ticket cannot be redeemed at a project's dev origin, or None if it can."""
    if ticket is None:
        return "there is no ticket with this secret"
    if ticket.project_id != project.id:
        return f"the ticket is for project {ticket.project_id}"
    if ticket.state != "unused":
        return f"the ticket is {ticket.state}"
    if ticket.expires_ms <= change.now_ms:
        return "the ticket has expired"
    return None


def session_of(change: Change, project: Project, cookie: str) -> Ticket | None:
    """Return the ticket that started the session identified by a cookie.

    Returns None if the session is not valid.
    """
    ticket_id, _, session = cookie.partition(".")
    ticket = change.get(TICKETS, ticket_id)
    if ticket is None or ticket.used_ms is None or ticket.session_digest != digest(session):
        return None
    has_expired = ticket.used_ms + DEV_SESSION_LIFETIME_MS <= change.now_ms
    if has_expired or ticket.project_id != project.id:
        return None
    return ticket
