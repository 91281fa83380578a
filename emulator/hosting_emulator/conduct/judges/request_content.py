"""Judges for the content of requests: tickets, cursors, Idempotency-Keys, and parts that calls do
not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.recent import Recent
from hosting_emulator.contract.call_table import parameter_name
from hosting_emulator.contract.calls import REDEEM_TICKET, CallSpec
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.request_views import document_of
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import TICKETS

_EMPTY_BODY = "an empty body"


class Redemptions(ConductJudge):
    """Detects attempts to redeem a used, expired or revoked ticket, and tickets that a newer ticket
    revoked before anyone redeemed them.
    """

    def __init__(self) -> None:
        #: Tickets that a client redeemed, but without receiving the response.
        self._without_response: Recent[str, bool] = Recent()
        #: The expiry time of each ticket, in milliseconds, as given in the response to the request
        #: that created it.
        self._expiries: Recent[str, int] = Recent()
        #: Tickets that were created by the second delivery of a request and that no client
        #: received.
        self._discarded: Recent[str, bool] = Recent()
        #: For each ticket that was revoked unused and that no client has tried to redeem since, the
        #: request that created the newer ticket.
        self._wasted: Recent[str, ExchangeView] = Recent()

    def after_rewind(self) -> Redemptions:
        """Return this judge, because a rewind does not change which responses clients have
        received.
        """
        return self

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        if exchange.call == REDEEM_TICKET:
            yield from self._judge_redemption(exchange)
            return
        if exchange.call != "create_dev_access_ticket":
            return
        self._note_second_delivery(exchange)
        if exchange.succeeded:
            self._note_replacement(exchange)
            expiry = _ticket_expiry(exchange.response_body)
            if expiry is not None:
                self._expiries.keep(*expiry)

    def _note_second_delivery(self, exchange: ExchangeView) -> None:
        """If a request was delivered twice, remember the ticket that the client did not receive."""
        second = exchange.entry.second_delivery
        if second is None or exchange.entry.is_discarded:
            return
        document = document_of(second.response_body)
        if isinstance(document, dict) and isinstance(document.get("ticket_id"), str):
            self._discarded.keep(document["ticket_id"], True)

    def _note_replacement(self, exchange: ExchangeView) -> None:
        """Remember the ticket that a new ticket revokes, if a client received it."""
        earlier_id = exchange.world.indexes.get(f"last_ticket:{exchange.user}")
        earlier = exchange.world.get(TICKETS, earlier_id or "")
        if earlier is None or earlier.id not in self._expiries:
            return
        if earlier.state == "unused" and earlier.expires_ms > exchange.at_ms:
            self._wasted.keep(earlier.id, exchange)

    def end(self) -> Iterator[Finding]:
        for id_, exchange in self._wasted.items():
            yield Finding("ticket-wasted", exchange, id=id_, group=exchange.user)

    def _judge_redemption(self, exchange: ExchangeView) -> Iterator[Finding]:
        """Check a redemption against the world's record of the ticket."""
        indexes = exchange.world.indexes
        ticket_id = indexes.get(f"ticket:{digest(exchange.query.get('ticket', ''))}")
        ticket = exchange.world.get(TICKETS, ticket_id or "")
        if ticket is None:
            return
        id_ = ticket.id
        self._wasted.pop(id_, None)
        arrival_ms = exchange.entry.came_ms
        newest = indexes.get(f"last_ticket:{ticket.principal}")
        expiry_ms = self._expiries.get(id_, ticket.expires_ms)
        had_no_response = self._without_response.pop(id_, False)
        if not exchange.is_received or exchange.entry.is_discarded:
            # Remember that the client has to redeem the ticket again, because this response was
            # lost.
            self._without_response.keep(id_, True)
        if ticket.state == "used":
            if not had_no_response:  # a client that got no response has to try again
                yield Finding("ticket-redeemed-twice", exchange, id=id_, group=id_)
        elif ticket.expires_ms <= arrival_ms:
            if expiry_ms <= arrival_ms:  # an intervention may have ended the ticket earlier
                until = format_timestamp(expiry_ms)
                yield Finding("ticket-redeemed-late", exchange, id=id_, until=until, group=id_)
        elif ticket.state == "revoked" and newest != id_ and newest not in self._discarded:
            yield Finding("replaced-ticket-redeemed", exchange, id=id_, newest=newest, group=id_)


def _ticket_expiry(document: Any) -> tuple[str, int] | None:
    """Return the id and expiry time of a new ticket, or None if they are not in the response."""
    if not isinstance(document, dict):
        return None
    id_ = document.get("ticket_id")
    expires_at = document.get("expires_at")
    if not isinstance(id_, str) or not isinstance(expires_at, str):
        return None
    try:
        return id_, parse_timestamp(expires_at)
    except ValueError:  # a `respond` fault can send any text
        return None


class Cursors(ConductJudge):
    """Detects cursors that are refused because no page of the same project returned them."""

    def __init__(self) -> None:
        #: For each cursor, the project whose list returned it.
        self._projects: Recent[str, str] = Recent()

    def after_rewind(self) -> Cursors:
        """Return this judge, because clients may still use cursors that they received before the rewind."""
        return self

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        if exchange.call != "list_deployments":
            return
        project = str(exchange.entry.project)
        parameter = exchange.world.assumptions.cursor_parameter
        cursor = exchange.query.get(parameter)
        # Look for the refusal's detail in the log entry's notes, because a variation or a fault may
        # have changed the detail in the response.
        is_refused = exchange.status >= 400 and bad_cursor(parameter).detail in exchange.entry.why
        source = self._projects.get(cursor or "")
        # Do not report a cursor from the same project: it may have been refused because of a
        # rewind.
        if cursor is not None and is_refused and source != project:
            origin = "no page returned this cursor"
            if source is not None:
                origin = f"this cursor is from project {source}"
            yield Finding(
                "made-up-cursor", exchange, cursor=cursor[:60], origin=origin, group=project
            )
        page = exchange.response_body
        if exchange.status == 200 and isinstance(page, dict):
            next_cursor = page.get("next_cursor")
            if isinstance(next_cursor, str):
                self._projects.keep(next_cursor, project)


class RequestParts(ConductJudge):
    """Detects Idempotency-Keys that are missing or not listed for the call, and parts of requests
    that calls do not read.
    """

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        spec = exchange.spec
        if spec is None:
            return
        if spec.idempotent and not exchange.key:
            group = (exchange.call, exchange.entry.path)
            yield Finding("missing-idempotency-key", exchange, group=group)
        elif not spec.idempotent and exchange.key is not None:
            yield Finding("key-not-listed", exchange, group=exchange.call)
        for part in [*_unread_parameters(exchange, spec), *_unread_body(exchange, spec)]:
            yield Finding(
                "unread-field",
                exchange,
                part=part.name,
                hint=part.hint,
                group=(exchange.call, part.name),
                # Some libraries automatically send an empty object for a call without a body.
                sure=part.name != _EMPTY_BODY,
                quote=part.quote,
            )


@dataclass(frozen=True, slots=True)
class _UnreadPart:
    """A part of a request that the call does not read.

    `quote` is the contract's sentence about the parts that the call does read, with its source.
    """

    name: str
    quote: tuple[str, str] | None
    hint: str = ""


def _unread_parameters(exchange: ExchangeView, spec: CallSpec) -> Iterator[_UnreadPart]:
    if not exchange.entry.query:
        return
    assumptions = exchange.world.assumptions
    names = {parameter_name(parameter, assumptions) for parameter in spec.query}
    quote = None
    if spec.query_sentence:
        quote = (spec.query_sentence, f"contract, section {spec.section}")
    for name in exchange.query:
        if name not in names:
            hint = _intended_parameter(exchange, spec, name)
            yield _UnreadPart(f"the query parameter {name[:60]!r}", quote, hint)


def _unread_body(exchange: ExchangeView, spec: CallSpec) -> Iterator[_UnreadPart]:
    entry = exchange.entry
    if not entry.body_bytes:
        return
    place = f"contract, section {spec.section}"
    if spec.method == "GET":  # the contract says nothing about the bodies of GET requests
        place = "contract, section Endpoints (no body is listed for this call)"
    quote = (spec.body_sentence, place)
    if spec.body is None:
        is_whole = entry.body_bytes == len(entry.body)
        is_empty = is_whole and entry.body.strip() in (b"{}", b"null", b"")
        yield _UnreadPart(_EMPTY_BODY if is_empty else "a body", quote)
        return
    document = exchange.request_body
    if not isinstance(document, dict):
        return
    for name in document:
        if name not in RESOURCES[spec.body].names:
            yield _UnreadPart(f"the body field {name[:60]!r}", quote)


def _intended_parameter(exchange: ExchangeView, spec: CallSpec, name: str) -> str:
    """Return a hint about the parameter that the client may have meant, or an empty string.

    The real service may use other parameter names, because the contract does not specify them.
    """
    for parameter in reversed(spec.query):  # try the cursor last, because its value may be anything
        usual_name = parameter_name(parameter, exchange.world.assumptions)
        if usual_name in exchange.query:
            continue
        if re.fullmatch(parameter.pattern, exchange.query[name]):
            return (
                f". If the service has another name for {usual_name!r}, "
                f"set the {parameter.name_assumption} assumption"
            )
    return ""
