"""Call 7: issue a single-use ticket for a project's dev origin; and what becomes of it there.

To a stranger, a ticket that is unknown, used, expired, revoked or of another origin looks the same.
"""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.calls.access import role_of
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import views
from hosting_emulator.world.naming import hostnames, zone_of
from hosting_emulator.world.records import Project, Ticket
from hosting_emulator.world.streams import digest, new_id, new_secret
from hosting_emulator.world.tables import PROJECTS, TICKETS
from hosting_emulator.world.value import Change

#: A ticket is valid ten minutes (contract, Limits).
LIFETIME_MS = 600_000
REDEEM_PATH = "/.service/dev-access/redeem"


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Issue the ticket; the principal's earlier unused one is revoked."""
    principal = request.principal.person_id
    holder = request.principal.name(change.assumptions)
    # Each new ticket revokes the one before, so at most the last one can still be unused.
    last_id = change.world.indexes.get(f"last_ticket:{holder}")
    last = change.get(TICKETS, last_id) if last_id else None
    if last is not None and last.state == "unused" and not _is_over(change, last):
        change.put(TICKETS, last.id, replace(last, state="revoked"))
    secret = new_secret(change, "secrets")
    ticket = Ticket(
        id=new_id(change),
        project_id=project.id,
        principal=principal,
        digest=digest(secret),
        expires_ms=change.now_ms + LIFETIME_MS,
        holder=None if holder == principal else holder,
    )
    change.put(TICKETS, ticket.id, ticket)
    shown = change.assumptions.dev_origin_port == "shown"
    origin = dev_origin(change, project, request.dev_port if shown else None)
    document = {
        "ticket_id": ticket.id,
        "project_id": project.id,
        "environment_id": project.dev_environment_id,
        "origin": origin,
        "redeem_url": f"{origin}{REDEEM_PATH}?stage=dev&ticket={secret}",
        "expires_at": format_timestamp(ticket.expires_ms),
    }
    status = request.spec.success_status(change.assumptions)
    return Reply(status, views.encode(document, change.assumptions), ticket.id)


def dev_origin(change: Change, project: Project, port: int | None) -> str:
    """Return the https origin of a project's dev host."""
    host = hostnames(change.world.name, change.assumptions, project).development
    return f"https://{host}" if port in (None, 443) else f"https://{host}:{port}"


# --- at the dev origin -----------------------------------------------------------------------------


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
    return "the ticket has expired" if _is_over(change, ticket) else None


def _is_over(change: Change, ticket: Ticket) -> bool:
    return change.assumptions.is_over(ticket.expires_ms, change.now_ms)


def session_of(change: Change, project: Project, cookie: str) -> Ticket | None:
    """Return the ticket that opened this session at this project's origin, or None."""
    ticket_id, _, session = cookie.partition(".")
    ticket = change.get(TICKETS, ticket_id)
    if ticket is None or ticket.used_ms is None or ticket.session_digest != digest(session):
        return None
    ends_ms = ticket.used_ms + parse_duration_ms(change.assumptions.dev_session_lifetime)
    over = change.assumptions.is_over(ends_ms, change.now_ms)
    return None if over or ticket.project_id != project.id else ticket
