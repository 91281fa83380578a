"""The conduct judges' view of an exchange: the log entry, and values derived from the entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, cast
from urllib.parse import parse_qsl, unquote

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.calls import CallName, CallSpec, DoorName
from hosting_emulator.engine.connection import Connection
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.problem_replies import retry_after_s
from hosting_emulator.engine.request_views import document_of
from hosting_emulator.world.lifecycles import OPERATION
from hosting_emulator.world.value import World

#: The tolerance, in milliseconds, for client timers that fire slightly early according to our
#: clock.
_TIMER_MS = 20
_LONGEST_PATH = 120
#: For a value longer than this many bytes, only its first bytes and a digest are compared.
_COMPARED_BYTES = 256
#: A request that is repeated after this many milliseconds counts as a new request, not as a retry.
A_RETRY_MS = 600_000
#: A request that arrives on a different connection within this many milliseconds after a response
#: may have been sent before the client received the response.
_IN_TRANSIT_MS = 50
#: The maximum time, in milliseconds, between the first requests of two programs that start together.
_STARTED_TOGETHER_MS = 1000
#: This many consecutive repeats of a request, each on a new connection, must come from one client.
_REPEATS = 2
#: This many repeats in immediate succession must come from one client. A few separate programs may
#: produce fewer repeats by chance.
_REPEATS_AT_ONCE = 5
_KEY_HEADER = b"idempotency-key"

Knowledge = Literal["surely", "maybe", "no"]


@dataclass(slots=True, eq=False)
class ConnectionUse:
    """How many requests a connection has carried, and the log number of the most recent request."""

    connection: Connection
    count: int = 0
    last: int = 0

    def __deepcopy__(self, memo: object) -> ConnectionUse:
        """Return the same object, because copies of judges compare connections by identity."""
        return self


class ExchangeView:
    """One exchange, with the values that judges compare. Bodies are parsed only when a rule needs
    them.
    """

    def __deepcopy__(self, memo: object) -> ExchangeView:
        """Return the same object, because judges do not change the exchanges that they observe."""
        return self

    def __init__(self, entry: Entry, connection_use: ConnectionUse) -> None:
        self.entry = entry
        self.connection_use = connection_use
        connection_use.count += 1
        connection_use.last = entry.n
        #: The ordinal of the request on its connection, starting at 1.
        self.ordinal = connection_use.count
        #: How many identical requests, each on a new connection, came directly before this request.
        self.repeat_count = 0
        self.n = entry.n
        self.at_ms = entry.at_ms
        self.status = entry.status
        self.call = cast("CallName | DoorName | None", entry.call)
        self.world: World = entry.world
        #: The request's name in messages: the call's id, or the method and path if no call has this
        #: path.
        self.name = entry.call or f"{entry.method} {entry.path[:_LONGEST_PATH]}"
        #: The call's row in the contract's table, or None if no call has this path.
        self.spec: CallSpec | None = entry.spec if entry.call else None
        #: The id of the user who sent the request, or None if the user is unknown.
        self.user = entry.principal.user_id or None
        #: The request headers by lowercase name. If a header is repeated, the last value is kept.
        self.headers = {name.lower(): value for name, value in entry.raw_headers}
        #: The Authorization header, shortened if it is long. Judges use it to tell clients apart.
        self.credentials = _brief(self.headers.get(b"authorization", b""))
        key = self.headers.get(_KEY_HEADER)
        #: The value of the Idempotency-Key header, or None if the request did not have one.
        self.key: str | None = None
        if key is not None:
            self.key = _brief_text(key)
        is_keyed = self.spec is not None and self.spec.idempotent and self.user is not None
        #: The Idempotency-Key of a mutation by a known user. None for all other requests.
        self.mutation_key: str | None = None
        if is_keyed and self.key:
            self.mutation_key = self.key
        #: The requested path, percent-decoded.
        self.path = _plain_path(entry.path)
        #: Whether the response leaves it open whether the request was applied.
        self.reports_uncertainty = entry.status >= 500 or entry.code == "api_key_creation_uncertain"
        #: The real time, in milliseconds, at which the response was sent.
        self.response_ms = entry.real_ms + entry.late_ms

    @property
    def is_abandoned(self) -> bool:
        """Whether the client closed the connection before the whole response had been sent."""
        return self.entry.passage is not None and self.entry.passage.is_abandoned

    @property
    def is_received(self) -> bool:
        """Whether the client received the whole response, even if it was late.

        A response counts as received if all of it was sent while the connection was open.
        """
        return self.entry.lost is None and not self.is_abandoned

    @property
    def succeeded(self) -> bool:
        """Whether the response was a success, and the client received it."""
        return 200 <= self.status < 300 and self.is_received

    @property
    def is_uncertain(self) -> bool:
        """Whether the client cannot know whether its request was applied.

        The client cannot know this if the response is incomplete or missing, or if the response
        itself leaves the result open.
        """
        return not self.is_received or self.status == 0 or self.reports_uncertainty

    def overlaps(self, other: ExchangeView) -> bool:
        """Return whether both requests were in progress at the same time."""
        if self.connection_use is other.connection_use:
            return False
        own_passage = self.entry.passage
        other_passage = other.entry.passage
        if own_passage is not None and other_passage is not None:
            own_end = own_passage.end(self.entry.lost)
            other_end = other_passage.end(other.entry.lost)
            return own_passage.arrival < other_end and other_passage.arrival < own_end
        if not self.is_received or not other.is_received:
            return False
        return self.entry.real_ms < other.response_ms and other.entry.real_ms < self.response_ms

    def may_react_to(self, earlier: ExchangeView) -> bool:
        """Return whether the client, when it sent this request, could know the result of an earlier
        request.

        It can know the result once the whole response has been sent or the connection has ended.
        """
        own_passage = self.entry.passage
        earlier_passage = earlier.entry.passage
        if own_passage is None or earlier_passage is None:
            return not earlier.is_received or self.entry.real_ms >= earlier.response_ms
        return earlier_passage.end(earlier.entry.lost) < own_passage.arrival

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The query parameters. If a parameter is repeated, the last value is kept."""
        return dict(parse_qsl(self.entry.query, keep_blank_values=True, errors="replace"))

    @property
    def request_body(self) -> Any:
        """The request body, parsed as JSON, or None if it is missing, incomplete or not JSON."""
        return _json(self.entry.body, self.entry.body_bytes)

    @cached_property
    def request_identity(self) -> tuple[str, str, str, bytes]:
        """The method, path, query and body, for comparisons with other requests.

        Two requests for which these are equal count as the same request, even if their keys differ.
        """
        entry = self.entry
        body = entry.body
        document = self.request_body
        if isinstance(document, dict):
            body = msgspec.json.encode(document, order="deterministic")
        query = _brief_text(entry.query.encode("utf-8", "backslashreplace"))
        return entry.method, self.path, query, _brief(body)

    @cached_property
    def response_body(self) -> Any:
        """The response body, parsed as JSON, or None if it is missing, incomplete or not JSON."""
        return _json(self.entry.response_body, self.entry.response_bytes)

    @property
    def retry_after_s(self) -> int | None:
        """The number of seconds in the Retry-After header.

        None if the header is missing or is not a number of seconds.
        """
        return retry_after_s(self.entry.response_headers)

    @cached_property
    def operation(self) -> dict[str, Any] | None:
        """The operation in the response.

        None if the response contains no operation, or if the client did not receive the response.
        """
        if self.spec is None or self.spec.response != "Operation" or not self.succeeded:
            return None
        document = self.response_body
        if isinstance(document, dict) and isinstance(document.get("id"), str):
            return document
        return None

    @property
    def shows_end(self) -> bool:
        """Whether the client received a response showing that an operation has ended."""
        if self.operation is None:
            return False
        state = self.operation.get("state")
        # The state may be any JSON value, because a `respond` fault can send any body.
        return isinstance(state, str) and state in OPERATION.finals

    def shrink(self) -> None:
        """To save memory, drop all data that is not needed for comparisons with later requests."""
        entry = self.entry
        _, path, query, _ = self.request_identity
        key_headers = [
            (name, _brief(value))
            for name, value in entry.raw_headers
            if name.lower() == _KEY_HEADER
        ]
        self.headers = {}
        self.entry = replace(
            entry, path=path, query=query, raw_headers=key_headers, body=b"", why=()
        )

    def waits_ms(self, earlier: ExchangeView) -> tuple[int, int]:
        """Return the milliseconds between a response and this request, in world time and in real
        time.
        """
        world_ms = self.entry.came_ms - earlier.at_ms
        real_ms = self.entry.real_ms - earlier.response_ms
        return world_ms, real_ms

    def knows_response(self, earlier: ExchangeView) -> Knowledge:
        """Return how certain it is that the client had received an earlier response when it sent
        this request.

        All requests on one connection come from one client. A request on a second connection counts
        as coming from another client if that connection was already in use, or if the first
        connection has been used since. If the earlier request was not the first on its connection,
        this request may come from another client.

        The first requests on two connections must come from one client if they have the same key or
        are at least a second apart, or if the request has been repeated several times.
        """
        world_ms, since_ms = self.waits_ms(earlier)
        if self.world.clock.mode == "frozen" and since_ms >= 0:
            # A frozen clock may have been advanced between the two requests.
            since_ms = max(since_ms, world_ms)
        if self.connection_use is earlier.connection_use:
            return "surely" if since_ms >= 0 else "no"
        if self.ordinal > 1 or earlier.connection_use.last != earlier.n:
            return "no"
        if self.crossed(earlier, since_ms):
            return "no"
        self.repeat_count = earlier.repeat_count + 1
        if earlier.ordinal != 1:
            return "maybe"
        if self.has_key_of(earlier):
            return "surely"  # two separate clients never send the same key
        enough_repeats = _REPEATS_AT_ONCE if since_ms < _IN_TRANSIT_MS else _REPEATS
        is_one_client = self.repeat_count >= enough_repeats or since_ms >= _STARTED_TOGETHER_MS
        return "surely" if is_one_client else "maybe"

    def has_key_of(self, earlier: ExchangeView) -> bool:
        """Return whether both requests are mutations with the same Idempotency-Key."""
        return self.mutation_key is not None and self.mutation_key == earlier.mutation_key

    def crossed(self, earlier: ExchangeView, since_ms: int | None = None) -> bool:
        """Return whether this request may have been sent before an earlier request's response arrived.

        Two requests on the same connection never cross each other.
        """
        if since_ms is None:
            _, since_ms = self.waits_ms(earlier)
        if self.connection_use is earlier.connection_use or since_ms >= _IN_TRANSIT_MS:
            return False
        if since_ms < 0:
            return True
        # The requests did not cross if the earlier connection had ended before this connection began.
        return not self.connection_use.connection.follows(earlier.connection_use.connection)

    def is_beside(self, other: ExchangeView, ms: int = _IN_TRANSIT_MS) -> bool:
        """Return whether both requests were sent within `ms` milliseconds on different connections."""
        apart_ms = abs(self.entry.real_ms - other.entry.real_ms)
        return self.connection_use is not other.connection_use and apart_ms < ms

    def waited(self, earlier: ExchangeView, ms: int) -> bool:
        """Return whether this request arrived at least `ms` milliseconds after a response.

        The wait is measured in world time and in real time, and the longer of the two counts.
        """
        world_ms, real_ms = self.waits_ms(earlier)
        return world_ms >= ms or real_ms + _TIMER_MS >= ms

    def shown_wait(self, earlier: ExchangeView) -> str:
        """Return how long the client waited between a response and this request, for example `1.20 s`."""
        return f"{max(0, *self.waits_ms(earlier)) / 1000:.2f} s"


def _brief(data: bytes) -> bytes:
    if len(data) <= _COMPARED_BYTES:
        return data
    return data[:_COMPARED_BYTES] + sha256(data).hexdigest().encode()


def _brief_text(data: bytes) -> str:
    return _brief(data).decode("utf-8", "backslashreplace")


def _plain_path(path: str) -> str:
    plain = path
    if "%" in path:
        plain = unquote(path)
    return _brief_text(plain.encode("utf-8", "backslashreplace"))


def _json(body: bytes, full_length: int) -> Any:
    if not body or len(body) != full_length:
        return None
    return document_of(body)
