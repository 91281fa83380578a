"""Dev access tickets: each is redeemed once, in its time, and the newest only."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.conduct.rule import CONTRACT, Finding, Judge, Rule, found
from hosting_emulator.conduct.seen import Seen
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.redeeming import REDEEM_TICKET
from hosting_emulator.world.records import Ticket
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import TICKETS

TWICE = Rule(
    id="ticket-redeemed-twice",
    severity="warning",
    title="A ticket was redeemed twice",
    because="A ticket is single use and valid ten minutes.",
    place=f"{CONTRACT}, States and transitions, Dev access ticket lifecycle",
    matters="The second attempt is refused, and whoever follows that link sees an error.",
    instead="Redeem a ticket once, keep the session that it opens, and create a new ticket for a "
    "new one.",
)
LATE = Rule(
    id="ticket-redeemed-late",
    severity="warning",
    title="A ticket was redeemed after its time",
    because="Owner-only issuance of a ten-minute single-use ticket for the immutable dev project "
    "origin.",
    place=f"{CONTRACT}, Endpoints, 7",
    matters="It is refused: tickets that are kept or sent around do not work.",
    instead="Create the ticket at the moment it is needed, and look at expires_at before using it.",
)
REPLACED = Rule(
    id="replaced-ticket-redeemed",
    severity="warning",
    title="A ticket was redeemed after a newer one had replaced it",
    because="Issuing a new ticket revokes unused tickets previously issued to the same principal.",
    place=f"{CONTRACT}, States and transitions, Dev access ticket lifecycle",
    matters="It is refused: two windows that each create a ticket revoke each other's.",
    instead="Redeem a ticket before creating the next one, or use the newest only.",
)


class Tickets(Judge):
    """Redemptions, held against what the world knew of the ticket."""

    rules = (TWICE, LATE, REPLACED)

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Look at one redemption alone: the world remembers the others."""
        ticket = _ticket(seen) if seen.call == REDEEM_TICKET else None
        if ticket is None:
            return
        if ticket.state == "used":
            says = f"Ticket {ticket.id} was used already, and redeemed again."
            yield found(TWICE, [seen], says, group=ticket.id)
        elif ticket.expires_ms <= seen.entry.came_ms:
            until = format_timestamp(ticket.expires_ms)
            says = f"Ticket {ticket.id} was valid until {until}, and redeemed later."
            yield found(LATE, [seen], says, group=ticket.id)
        elif ticket.state == "revoked" and _newest(seen, ticket) != ticket.id:
            says = (
                f"Ticket {ticket.id} was revoked by ticket {_newest(seen, ticket)}, and redeemed "
                f"all the same."
            )
            yield found(REPLACED, [seen], says, group=ticket.id)


def _ticket(seen: Seen) -> Ticket | None:
    world = seen.world
    ticket_id = world.indexes.get(f"ticket:{digest(seen.query.get('ticket', ''))}")
    return world.get(TICKETS, ticket_id) if ticket_id else None


def _newest(seen: Seen, ticket: Ticket) -> str | None:
    return seen.world.indexes.get(f"last_ticket:{ticket.principal}")
