"""Call 7: issue a single-use ticket for a project's dev origin."""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import views
from hosting_emulator.world.naming import hostnames
from hosting_emulator.world.records import Project, Ticket
from hosting_emulator.world.streams import digest, new_id, new_secret
from hosting_emulator.world.tables import TICKETS
from hosting_emulator.world.value import Change

#: A ticket is valid ten minutes (contract, Limits).
LIFETIME_MS = 600_000
REDEEM_PATH = "/.service/dev-access/redeem"


def answer(change: Change, request: CallRequest, project: Project) -> Reply:
    """Issue the ticket; the principal's earlier unused one is revoked."""
    principal = request.principal.person_id
    _revoke_earlier(change, principal)
    secret = new_secret(change, "secrets")
    ticket = Ticket(
        id=new_id(change),
        project_id=project.id,
        principal=principal,
        digest=digest(secret),
        expires_ms=change.now_ms + LIFETIME_MS,
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
    status = request.spec.success_status(change.assumptions)
    return Reply(status, views.encode(document, change.assumptions), ticket.id)


def dev_origin(change: Change, project: Project, port: int | None) -> str:
    """Return the https origin of a project's dev host."""
    host = hostnames(change.world.name, change.assumptions, project).development
    return f"https://{host}" if port in (None, 443) else f"https://{host}:{port}"


def _revoke_earlier(change: Change, principal: str) -> None:
    # Each new ticket revokes the one before, so at most the last one can still be unused.
    ticket_id = change.world.indexes.get(f"last_ticket:{principal}")
    ticket = change.get(TICKETS, ticket_id) if ticket_id else None
    if ticket is None or ticket.expires_ms <= change.now_ms:  # what has expired stays so
        return
    if ticket.state == "unused":
        change.put(TICKETS, ticket.id, replace(ticket, state="revoked"))
