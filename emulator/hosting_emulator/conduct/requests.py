"""What a request says: only what its call reads and the service gave out, and secrets in their place."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import unquote

import msgspec

from hosting_emulator.calls.create_dev_access_ticket import REDEEM_PATH
from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.conduct.rules import ConductJudge, ExchangeView, Finding, Recent, finding
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.identity import Identity
from hosting_emulator.engine.pipeline import REDEEM_TICKET
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import TICKETS

_EMPTY, _TICKET = "an empty body", "a ticket"
#: What may be one of this service's secrets; whether it is, is looked up.
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")
_SECRET = re.compile(r"[A-Za-z0-9_-]{43,}")
_SHORTEST_SECRET = 43


class RequestContent(ConductJudge):
    """What each request holds. It remembers the cursors that were given out."""

    def __init__(self) -> None:
        #: The project whose page had a cursor.
        self._given: Recent[str, str] = Recent()

    def after_return(self) -> RequestContent:
        """Go on: a page from before the world was put back had its cursor, too."""
        return self

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call == REDEEM_TICKET:
            yield from _ticket(now)
        principal, spec = now.entry.principal, now.spec
        # Another flaw may be refused first: the session is missing all the same.
        if spec is not None and spec.interactive and principal and not principal.interactive:
            what = "an API key" if principal.api_key_id else "a token without a session"
            says = f"{now.name} came with {what}."
            group = (principal.person_id, what)
            yield finding("key-where-session-needed", says, now, group=group)
        yield from _misplaced_secrets(now)
        if now.call == "list_deployments":
            yield from self._cursor(now)
        if spec is not None and not spec.idempotent and now.key is not None:
            says = f"{now.name} came with an Idempotency-Key."
            yield finding("key-not-listed", says, now, group=now.call)
        for what, quote in _unread_parts(now):
            yield finding(
                "unread-field",
                f"{now.name} came with {what}, which it does not read.",
                now,
                group=(now.call, what),
                # An empty object where no body is listed is what some libraries send by themselves.
                severity="note" if what == _EMPTY else None,
                quote=quote,
            )

    def _cursor(self, now: ExchangeView) -> Iterator[Finding]:
        """Look at cursors that were refused, and that no page of that project had."""
        project, name = str(now.entry.project), now.world.assumptions.cursor_parameter
        cursor = now.query.get(name)
        # By what was noted of it: the answer's own words may be any.
        refused = now.status >= 400 and bad_cursor(name).detail in now.entry.why
        home = self._given.get(cursor or "")
        if cursor is not None and refused and home != project:
            # Its own may be refused once the world was put back.
            origin = "no page had it" if home is None else f"it is of project {home}"
            says = f"The cursor {cursor[:60]!r} was sent for project {project}: {origin}."
            yield finding("made-up-cursor", says, now, group=project)
        answer = now.answer if now.status == 200 else None
        given = answer.get("next_cursor") if isinstance(answer, dict) else None
        if isinstance(given, str):
            self._given.keep(given, project)


def _unread_parts(now: ExchangeView) -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Name what is not read, each with what the contract says of the call."""
    spec, entry = now.spec, now.entry
    if spec is None:
        return
    place = f"the contract, {spec.place}"
    if entry.query:
        known = {parameter.name(now.world.assumptions) for parameter in spec.query}
        quote = (spec.query_clause, place) if spec.query_clause else None
        for name in now.query:
            if name not in known:
                yield f"the query parameter {name[:60]!r}", quote
    if spec.method == "GET":  # of whose body the contract says nothing
        place = "the contract, Endpoints; none is listed for this one either"
    if entry.body_bytes and spec.body is None:
        empty = entry.body.strip() in (b"{}", b"null", b"")
        yield _EMPTY if empty else "a body", (spec.body_clause, place)
    elif entry.body_bytes and spec.body is not None and isinstance(now.sent, dict):
        for name in now.sent:
            if name not in RESOURCES[spec.body].names:
                yield f"the body field {name[:60]!r}", (spec.body_clause, place)


def _ticket(now: ExchangeView) -> Iterator[Finding]:
    """Hold a redemption against what the world knew of the ticket."""
    indexes = now.world.indexes
    ticket_id = indexes.get(f"ticket:{digest(now.query.get('ticket', ''))}")
    ticket = now.world.get(TICKETS, ticket_id) if ticket_id else None
    if ticket is None:
        return
    newest = indexes.get(f"last_ticket:{ticket.principal}")
    if ticket.state == "used":
        rule, how = "ticket-redeemed-twice", "was used already, and redeemed again."
    elif ticket.expires_ms <= now.entry.came_ms:
        until = format_timestamp(ticket.expires_ms)
        rule, how = "ticket-redeemed-late", f"was valid until {until}, and redeemed later."
    elif ticket.state == "revoked" and newest != ticket.id:
        rule = "replaced-ticket-redeemed"
        how = f"was revoked by ticket {newest}, and redeemed all the same."
    else:
        return
    yield finding(rule, f"Ticket {ticket.id} {how}", now, group=ticket.id)


def _misplaced_secrets(now: ExchangeView) -> Iterator[Finding]:
    """Find secrets of this world in the address, the Referer and all other headers."""
    entry = now.entry
    if len(entry.path) + len(entry.query) >= _SHORTEST_SECRET:
        right = now.call == REDEEM_TICKET or entry.path == REDEEM_PATH
        for what in _secrets_in(now, unquote(f"{entry.path}?{entry.query}")):
            if not (right and what == _TICKET):
                says = f"{now.name} had {what} in its URL."
                yield finding("secret-in-url", says, now, group=(now.call, what))
    for name, value in entry.headers:
        # Most headers are too short to hold one.
        shown = name.decode("latin-1").lower()
        if len(value) < _SHORTEST_SECRET or shown == "authorization":
            continue
        rule = "secret-in-referer" if shown == "referer" else "secret-in-header"
        text = value.decode("latin-1")
        scheme, _, packed = text.strip().partition(" ")
        if scheme.lower() == "basic":  # user and password, as RFC 7617 packs them
            with suppress(ValueError):
                text += f" {b64decode(packed.strip()).decode('latin-1')}"
        for what in _secrets_in(now, text):
            says = f"{now.name} had {what} in the header {shown}."
            yield finding(rule, says, now, group=(shown, what))


def _secrets_in(now: ExchangeView, text: str) -> list[str]:
    """Return what secrets of the world a text holds, each kind once."""
    world, prefix = now.world, now.world.assumptions.key_prefix
    kinds: dict[str, None] = {}
    for token in _TOKEN.findall(text):  # a proxy may add tokens of its own, of other keys
        head = token.partition(".")[0]
        with suppress(ValueError, msgspec.DecodeError):
            header = msgspec.json.decode(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
            kid = header.get("kid") if isinstance(header, dict) else None
            if kid is not None and kid == Identity(world.seed, world.name).kid:
                kinds["an access token"] = None
    for secret in _SECRET.findall(text):
        if prefix in secret and len(secret.partition(prefix)[2]) >= _SHORTEST_SECRET:
            kinds["an API key"] = None
        elif world.indexes.get(f"ticket:{digest(secret[-_SHORTEST_SECRET:])}"):
            kinds[_TICKET] = None
    return list(kinds)
