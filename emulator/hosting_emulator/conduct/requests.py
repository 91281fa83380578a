"""What a request says: only what its call reads and the service gave out, and secrets in their place."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

import msgspec

from hosting_emulator.calls.create_dev_access_ticket import REDEEM_PATH
from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.conduct.exchange import ExchangeView
from hosting_emulator.conduct.rules import CONTRACT, ConductRule, Finding, Judge, Recent
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.identity import Identity
from hosting_emulator.engine.pipeline import REDEEM_TICKET
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import TICKETS

SESSION_NEEDED = ConductRule(
    id="key-where-session-needed",
    severity="warning",
    title="An API key where an interactive session is needed",
    because="Operation 3 requires a current interactive user session.",
    place=f"{CONTRACT}, Authentication, 4",
    matters="It is refused always: a machine cannot make API keys for itself.",
    instead="Let the person sign in, and make the call with the access token of that session.",
)
MADE_UP_CURSOR = ConductRule(
    id="made-up-cursor",
    severity="warning",
    title="A cursor that the list did not give out",
    because="a continuation cursor (opaque string from the preceding page's next_cursor, characters "
    "A-Z a-z 0-9 _ -)",
    place=f"{CONTRACT}, Endpoints, 6",
    matters="A cursor means something to the service alone: one that was made up, changed or taken "
    "from another list is refused, or shows the wrong page.",
    instead="Send next_cursor of the page before, unchanged, to the same project; begin without one.",
)
KEY_NOT_LISTED = ConductRule(
    id="key-not-listed",
    severity="note",
    title="An Idempotency-Key where none is listed",
    because="no such header is listed for operations 5 to 8",
    place=f"{CONTRACT}, Endpoints",
    matters="It does nothing: whoever relies on it is not protected. Two tickets are two tickets.",
    instead="Send it with operations 1 to 4 only.",
)
UNREAD_FIELD = ConductRule(
    id="unread-field",
    severity="warning",
    title="Sent what nobody reads",
    because="Query: a continuation cursor [...] and a maximum page size (integer 1 to 100).",
    place=f"{CONTRACT}, Endpoints: the body and the query of each",
    matters="What was meant by it does not happen, and nobody says so; another version of the service "
    "may refuse it.",
    instead="Send the fields and parameters that the call lists, spelled as they are there.",
)
TWICE = ConductRule(
    id="ticket-redeemed-twice",
    severity="warning",
    title="A ticket was redeemed twice",
    because="A ticket is single use and valid ten minutes.",
    place=f"{CONTRACT}, States and transitions, Dev access ticket lifecycle",
    matters="The second attempt is refused, and whoever follows that link sees an error.",
    instead="Redeem a ticket once, keep the session that it opens, and create a new ticket for a "
    "new one.",
)
LATE = ConductRule(
    id="ticket-redeemed-late",
    severity="warning",
    title="A ticket was redeemed after its time",
    because="Owner-only issuance of a ten-minute single-use ticket for the immutable dev project "
    "origin.",
    place=f"{CONTRACT}, Endpoints, 7",
    matters="It is refused: tickets that are kept or sent around do not work.",
    instead="Create the ticket at the moment it is needed, and look at expires_at before using it.",
)
REPLACED = ConductRule(
    id="replaced-ticket-redeemed",
    severity="warning",
    title="A ticket was redeemed after a newer one had replaced it",
    because="Issuing a new ticket revokes unused tickets previously issued to the same principal.",
    place=f"{CONTRACT}, States and transitions, Dev access ticket lifecycle",
    matters="It is refused: two windows that each create a ticket revoke each other's.",
    instead="Redeem a ticket before creating the next one, or use the newest only.",
)
IN_URL = ConductRule(
    id="secret-in-url",
    severity="error",
    title="A token, key or ticket in a URL",
    because="Bearer tokens SHOULD NOT be passed in page URLs (for example, as query string "
    "parameters).",
    place="RFC 6750, 5.3",
    matters="URLs are written into logs, histories and Referer headers: whoever reads those can act "
    "for its owner.",
    instead="Send it in the Authorization header; open a ticket's redeem_url as it is, once.",
)
IN_REFERER = ConductRule(
    id="secret-in-referer",
    severity="error",
    title="A token, key or ticket in a Referer",
    because="URIs are intended to be shared, not secured, even when they identify secure resources.",
    place="RFC 9110, 17.9",
    matters="The page's own URL holds the secret, and every site it links to is told.",
    instead="Keep secrets out of page URLs, and answer pages with Referrer-Policy: no-referrer.",
)
IN_HEADER = ConductRule(
    id="secret-in-header",
    severity="error",
    title="A token, key or ticket in another header than Authorization",
    because="Every operation takes HTTP bearer authentication: Authorization: Bearer <token>.",
    place=f"{CONTRACT}, Authentication, 1",
    matters="Other headers are logged and passed on by proxies that keep Authorization to themselves.",
    instead="Send it in the Authorization header only.",
)
_EMPTY, _TICKET = "an empty body", "a ticket"
#: What may be one of this service's secrets; whether it is, is looked up.
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")
_SECRET = re.compile(r"[A-Za-z0-9_-]{43,}")
_SHORTEST_SECRET = 43


class SessionNeeded(Judge):
    """Operation 3 without a session."""

    rules = (SESSION_NEEDED,)

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        principal, spec = now.entry.principal, now.spec
        # Another flaw may be refused first: the session is missing all the same.
        if spec is not None and spec.interactive and principal and not principal.interactive:
            what = "an API key" if principal.api_key_id else "a token without a session"
            says = f"{now.name} came with {what}."
            yield SESSION_NEEDED.finding(says, now, group=(principal.person_id, what))


class MadeUpCursor(Judge):
    """Cursors that were refused, and that no page of that project had.

    A page from before the world was put back had them too.
    """

    rules = (MADE_UP_CURSOR,)

    def __init__(self) -> None:
        #: The project whose page had it.
        self._given: Recent[str, str] = Recent()

    def after_return(self) -> MadeUpCursor:
        """Go on: what was given out stays given out."""
        return self

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call != "list_deployments":
            return
        project, name = str(now.entry.project), now.world.assumptions.cursor_parameter
        cursor = now.query.get(name)
        # By what was noted of it: the answer's own words may be any.
        refused = now.status >= 400 and bad_cursor(name).detail in now.entry.why
        if cursor is not None and refused:
            home = self._given.get(cursor)
            if home != project:  # its own may be refused once the world was put back
                origin = "no page had it" if home is None else f"it is of project {home}"
                says = f"The cursor {cursor[:60]!r} was sent for project {project}: {origin}."
                yield MADE_UP_CURSOR.finding(says, now, group=project)
        answer = now.answer if now.status == 200 else None
        given = answer.get("next_cursor") if isinstance(answer, dict) else None
        if isinstance(given, str):
            self._given.keep(given, project)


class KeyNotListed(Judge):
    """Idempotency-Keys that no operation reads."""

    rules = (KEY_NOT_LISTED,)

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.spec is not None and not now.spec.idempotent and now.key is not None:
            says = f"{now.name} came with an Idempotency-Key."
            yield KEY_NOT_LISTED.finding(says, now, group=now.call)


class UnreadField(Judge):
    """Body fields, bodies and query parameters that their call does not have."""

    rules = (UNREAD_FIELD,)

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        for what, quote in _unread(now):
            yield UNREAD_FIELD.finding(
                f"{now.name} came with {what}, which it does not read.",
                now,
                group=(now.call, what),
                # An empty object where no body is listed is what some libraries send by themselves.
                severity="note" if what == _EMPTY else None,
                quote=quote,
            )


def _unread(now: ExchangeView) -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Name what is not read, each with what the contract says of the call."""
    spec, entry = now.spec, now.entry
    if spec is None:
        return
    place = f"{CONTRACT}, {spec.place}"
    if entry.query:
        known = {parameter.name(now.world.assumptions) for parameter in spec.query}
        quote = (spec.query_clause, place) if spec.query_clause else None
        for name in now.query:
            if name not in known:
                yield f"the query parameter {name[:60]!r}", quote
    if spec.method == "GET":  # of whose body the contract says nothing
        place = f"{CONTRACT}, Endpoints; none is listed for this one either"
    if entry.body_bytes and spec.body is None:
        empty = entry.body.strip() in (b"{}", b"null", b"")
        yield _EMPTY if empty else "a body", (spec.body_clause, place)
    elif entry.body_bytes and spec.body is not None and isinstance(now.sent, dict):
        for name in now.sent:
            if name not in RESOURCES[spec.body].names:
                yield f"the body field {name[:60]!r}", (spec.body_clause, place)


class Tickets(Judge):
    """Redemptions, held against what the world knew of the ticket: it remembers the others."""

    rules = (TWICE, LATE, REPLACED)

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call != REDEEM_TICKET:
            return
        indexes = now.world.indexes
        ticket_id = indexes.get(f"ticket:{digest(now.query.get('ticket', ''))}")
        ticket = now.world.get(TICKETS, ticket_id) if ticket_id else None
        if ticket is None:
            return
        newest = indexes.get(f"last_ticket:{ticket.principal}")
        if ticket.state == "used":
            says = f"Ticket {ticket.id} was used already, and redeemed again."
            yield TWICE.finding(says, now, group=ticket.id)
        elif ticket.expires_ms <= now.entry.came_ms:
            until = format_timestamp(ticket.expires_ms)
            says = f"Ticket {ticket.id} was valid until {until}, and redeemed later."
            yield LATE.finding(says, now, group=ticket.id)
        elif ticket.state == "revoked" and newest != ticket.id:
            says = f"Ticket {ticket.id} was revoked by ticket {newest}, and redeemed all the same."
            yield REPLACED.finding(says, now, group=ticket.id)


class Leaking(Judge):
    """Secrets of this world, wherever a request carries them: address, Referer, all other headers."""

    rules = (IN_URL, IN_REFERER, IN_HEADER)

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        entry = now.entry
        if len(entry.path) + len(entry.query) >= _SHORTEST_SECRET:
            right = now.call == REDEEM_TICKET or entry.path == REDEEM_PATH
            for what in _secrets_in(now, unquote(f"{entry.path}?{entry.query}")):
                if not (right and what == _TICKET):
                    says = f"{now.name} had {what} in its URL."
                    yield IN_URL.finding(says, now, group=(now.call, what))
        for spelled, value in entry.headers:
            # Most headers are too short to hold one.
            if len(value) < _SHORTEST_SECRET or (name := spelled.lower()) == b"authorization":
                continue
            rule, shown = IN_REFERER if name == b"referer" else IN_HEADER, name.decode("latin-1")
            for what in _secrets_in(now, _readable(value.decode("latin-1"))):
                says = f"{now.name} had {what} in the header {shown}."
                yield rule.finding(says, now, group=(shown, what))


def _readable(value: str) -> str:
    """Return a header's text; of user and password as RFC 7617 packs them, what is in them too."""
    scheme, _, packed = value.strip().partition(" ")
    if scheme.lower() != "basic":
        return value
    try:
        return f"{value} {b64decode(packed.strip()).decode('latin-1')}"
    except ValueError:
        return value


def _secrets_in(now: ExchangeView, text: str) -> list[str]:
    """Return what secrets of the world a text holds, each kind once."""
    world, prefix = now.world, now.world.assumptions.key_prefix
    kinds: dict[str, None] = {}
    if any(_is_ours(now, token) for token in _TOKEN.findall(text)):
        kinds["an access token"] = None
    for secret in _SECRET.findall(text):
        if prefix in secret and len(secret.partition(prefix)[2]) >= _SHORTEST_SECRET:
            kinds["an API key"] = None
        elif world.indexes.get(f"ticket:{digest(secret[-_SHORTEST_SECRET:])}"):
            kinds[_TICKET] = None
    return list(kinds)


def _is_ours(now: ExchangeView, token: str) -> bool:
    """Tell whether a JWT is signed with this world's key: a proxy may add tokens of its own."""
    head = token.partition(".")[0]
    try:
        header = msgspec.json.decode(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, msgspec.DecodeError):
        return False
    kid = Identity(now.world.seed, now.world.name).kid
    return isinstance(header, dict) and header.get("kid") == kid
