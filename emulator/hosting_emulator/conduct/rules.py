"""What a rule is, an exchange as the rules see it, who judges by them, and what is found."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar, cast
from urllib.parse import parse_qsl, unquote

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.calls import CallName, CallSpec, DoorName
from hosting_emulator.contract.markdown import read_sections
from hosting_emulator.contract.resources import with_states
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.connection import Connection
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.problem_replies import retry_after_s
from hosting_emulator.engine.request_views import document_of
from hosting_emulator.messages import ConductFinding, ConductRuleRow, Severity
from hosting_emulator.world.lifecycles import OPERATION
from hosting_emulator.world.value import World

#: Timers of some languages end a little early, measured on another clock than theirs.
_TIMER_MS = 20
_LONGEST_PATH = 120
#: Of what is longer than so many bytes only the beginning and a digest are kept to be compared.
_COMPARED_BYTES = 256
#: What is asked again after so long is a new attempt of somebody, and no retry.
A_RETRY_MS = 600_000
#: What came so soon by another connection may have been on its way already; and of two programs that
#: were started together one asks so much later.
_ON_ITS_WAY_MS, _TOGETHER_MS = 50, 1000
#: How often a request is repeated in a row, each time on a new connection, until it is one client's.
#: Some programs that start together follow each other at once by chance, but rarely so many.
_REPEATS = 2
_REPEATS_AT_ONCE = 5


@dataclass(slots=True, eq=False)
class Line:
    """A connection: how many requests came by it so far, and the number of the last."""

    connection: Connection
    count: int = 0
    last: int = 0

    def __deepcopy__(self, memo: object) -> Line:
        """Return the connection itself: copies of judges compare connections by identity."""
        return self


class ExchangeView:
    """One exchange. What reads a body is worked out when a rule asks for it."""

    def __deepcopy__(self, memo: object) -> ExchangeView:
        """Return the exchange itself: judges do not change what they have seen."""
        return self

    def __init__(self, entry: Entry, line: Line) -> None:
        self.entry, self.line = entry, line
        line.count, line.last = line.count + 1, entry.n
        #: Its place on its connection, from 1; and how often in a row a new connection asked again.
        self.nth, self.again = line.count, 0
        self.n, self.at_ms, self.status = entry.n, entry.at_ms, entry.status
        self.call = cast("CallName | DoorName | None", entry.call)
        self.world: World = entry.world
        #: The call, or what was asked where there is none, for a sentence.
        self.name = entry.call or f"{entry.method} {entry.path[:_LONGEST_PATH]}"
        #: The call's row of the contract's table; None: no call has this path.
        self.spec: CallSpec | None = entry.spec if entry.call else None
        #: The user who asked; None: nobody known.
        self.user = entry.principal.user_id or None
        #: The headers sent, by their names in lower case; of a repeated one the last.
        self.headers = {name.lower(): value for name, value in entry.raw_headers}
        #: The Authorization header: two of one user may be two clients, which know less of it.
        self.credentials = _brief(self.headers.get(b"authorization", b""))
        key = self.headers.get(b"idempotency-key")
        #: The Idempotency-Key sent; and that of a mutation by somebody known.
        self.key = None if key is None else _brief_text(key)
        mutation = self.spec is not None and self.spec.idempotent and self.user is not None
        self.mutation_key = (self.key or None) if mutation else None
        #: The path asked for, however it was spelled.
        path = unquote(entry.path) if "%" in entry.path else entry.path
        self.path = _brief_text(path.encode("utf-8", "backslashreplace"))
        #: Whether the response says that nobody knows the result.
        self.says_uncertain = entry.status >= 500 or entry.code == "api_key_creation_uncertain"
        #: The machine's time when the answer was on its way.
        self.left_ms = entry.real_ms + entry.late_ms

    @property
    def abandoned(self) -> bool:
        """Whether the client closed the connection before the whole response had been sent."""
        return self.entry.passage is not None and self.entry.passage.is_abandoned

    @property
    def heard(self) -> bool:
        """Whether the client received the whole response, however late.

        A response that was completely sent over a connection that was open counts as received.
        """
        return self.entry.lost is None and not self.abandoned

    @property
    def succeeded(self) -> bool:
        """Whether the response was a success, and the client received it."""
        return 200 <= self.status < 300 and self.heard

    @property
    def uncertain(self) -> bool:
        """Whether the client cannot know the result: no complete response, or one that says so."""
        return not self.heard or self.status == 0 or self.says_uncertain

    def overlaps(self, other: ExchangeView) -> bool:
        """Tell whether a client had both requests in progress at the same time."""
        if self.line is other.line:
            return False
        mine, theirs = self.entry.passage, other.entry.passage
        if mine is not None and theirs is not None:
            lost, other_lost = self.entry.lost, other.entry.lost
            return mine.arrival < theirs.end(other_lost) and theirs.arrival < mine.end(lost)
        if not self.heard or not other.heard:
            return False
        return self.entry.real_ms < other.left_ms and other.entry.real_ms < self.left_ms

    def may_react_to(self, earlier: ExchangeView) -> bool:
        """Tell whether the client knew, when it sent this, what had become of an earlier request.

        It knows when the response has left, or when the connection is over. Until then it waits.
        """
        mine, theirs = self.entry.passage, earlier.entry.passage
        if mine is None or theirs is None:
            return not earlier.heard or self.entry.real_ms >= earlier.left_ms
        return theirs.end(earlier.entry.lost) < mine.arrival

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The query's parameters; of a repeated one the last."""
        return dict(parse_qsl(self.entry.query, keep_blank_values=True, errors="replace"))

    @property
    def sent(self) -> Any:
        """The body sent, as JSON; None: there was none, or it is no JSON, or was not kept whole."""
        return _json(self.entry.body, self.entry.body_bytes)

    @cached_property
    def request(self) -> tuple[str, str, str, bytes]:
        """What two requests share exactly when they ask for the same."""
        entry, body = self.entry, self.entry.body
        sent = self.sent if self.spec is not None and self.spec.body else None
        if isinstance(sent, dict):
            body = msgspec.json.encode(sent, order="deterministic")
        query = _brief_text(entry.query.encode("utf-8", "backslashreplace"))
        return entry.method, self.path, query, _brief(body)

    @cached_property
    def answer(self) -> Any:
        """The body of the answer, as JSON; None: it was no JSON, or was not kept whole."""
        return _json(self.entry.response_body, self.entry.response_bytes)

    @property
    def retry_after_s(self) -> int | None:
        """The seconds of its Retry-After header; None: it has none in that form."""
        return retry_after_s(self.entry.response_headers)

    @cached_property
    def operation(self) -> dict[str, Any] | None:
        """The operation that the answer shows, if the client heard it."""
        shows = self.spec is not None and self.spec.response == "Operation"
        answer = self.answer if shows and self.succeeded else None
        return answer if isinstance(answer, dict) and isinstance(answer.get("id"), str) else None

    @property
    def shows_end(self) -> bool:
        """Whether the client heard that an operation has ended."""
        state = None if self.operation is None else self.operation.get("state")
        # A `respond` fault may put anything there.
        return isinstance(state, str) and state in OPERATION.finals

    def shed(self) -> None:
        """Keep only what later requests are compared with, which may be for long."""
        entry, key = self.entry, b"idempotency-key"
        _, path, query, _ = self.request
        sent = [(name, _brief(value)) for name, value in entry.raw_headers if name.lower() == key]
        self.headers = {}
        self.entry = replace(entry, path=path, query=query, raw_headers=sent, body=b"", why=())

    def waits_ms(self, before: ExchangeView) -> tuple[int, int]:
        """Return how long after an answer this was asked: world time, and the machine's."""
        entry = self.entry
        return entry.came_ms - before.at_ms, entry.real_ms - before.left_ms

    def knows(self, before: ExchangeView) -> Literal["surely", "maybe", "no"]:
        """Tell whether whoever asked this had the answer to another request by then.

        A request counts from when it was sent. One connection is one client's. So may be requests
        that each have a connection of their own: surely with the same key, a second later, or if it
        goes on. Where they are kept, a new one may be another client's, and one in use is.
        """
        world_ms, since_ms = self.waits_ms(before)
        if self.world.clock.mode == "frozen" and since_ms >= 0:
            since_ms = max(since_ms, world_ms)  # somebody has moved it in between
        if self.line is before.line:
            return "surely" if since_ms >= 0 else "no"
        if self.nth > 1 or before.line.last != before.n or self.crossed(before, since_ms):
            return "no"
        self.again = before.again + 1
        if before.nth != 1:
            return "maybe"
        if self.has_key_of(before):
            return "surely"  # one intent: nobody else has its key
        repeats = _REPEATS_AT_ONCE if since_ms < _ON_ITS_WAY_MS else _REPEATS
        alone = self.again >= repeats or since_ms >= _TOGETHER_MS
        return "surely" if alone else "maybe"

    def has_key_of(self, before: ExchangeView) -> bool:
        """Tell whether both are mutations under one Idempotency-Key."""
        return self.mutation_key is not None and self.mutation_key == before.mutation_key

    def crossed(self, before: ExchangeView, since_ms: int | None = None) -> bool:
        """Tell whether this may have been on its way, by another connection, when that was answered."""
        since_ms = self.waits_ms(before)[1] if since_ms is None else since_ms
        if self.line is before.line or since_ms >= _ON_ITS_WAY_MS:
            return False
        # It was not if the former connection had ended before this one began.
        return since_ms < 0 or not self.line.connection.follows(before.line.connection)

    def beside(self, other: ExchangeView, ms: int = _ON_ITS_WAY_MS) -> bool:
        """Tell whether both were sent within so long, each by a connection of its own."""
        apart_ms = abs(self.entry.real_ms - other.entry.real_ms)
        return self.line is not other.line and apart_ms < ms

    def waited(self, before: ExchangeView, ms: int) -> bool:
        """Tell whether so much time, the world's or the machine's, lies behind an answer."""
        world_ms, real_ms = self.waits_ms(before)
        return world_ms >= ms or real_ms + _TIMER_MS >= ms

    def shown_wait(self, before: ExchangeView) -> str:
        """Say how long after an answer this was asked, as the client saw it."""
        return f"{max(0, *self.waits_ms(before)) / 1000:.2f} s"


def _brief(data: bytes) -> bytes:
    if len(data) <= _COMPARED_BYTES:
        return data
    return data[:_COMPARED_BYTES] + sha256(data).hexdigest().encode()


def _brief_text(data: bytes) -> str:
    return _brief(data).decode("utf-8", "backslashreplace")


def _json(body: bytes, whole: int) -> Any:
    return document_of(body) if body and len(body) == whole else None


#: From the least to the worst.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
_ROWS = {
    id_: {name: with_states(text) for name, text in items}
    for id_, items in read_sections(Path(__file__).with_name("rules.md"))
}
#: What findings of a rule say, where the judge does not say it.
_MESSAGES = {id_: row.pop("message", "") for id_, row in _ROWS.items()}
#: All rules by their ids, in the order in which documents list them.
RULES = {id_: ConductRuleRow(id=id_, **row) for id_, row in _ROWS.items()}


class Finding(ConductFinding):
    """A rule that was broken: by which requests, in one sentence with the particulars.

    Findings of one rule with the same `group` are one finding of more requests, `last` being the
    number of the last of all. One that is not `sure` is a note; one that later requests refute is
    `withdrawn`. `quote` is the sentence and its place, and `message` what is reported, where the rule's own
    do not fit; `words` are those that the rule's own lacks.
    """

    def __init__(
        self,
        rule_id: str,
        *exchanges: ExchangeView,
        group: Hashable = None,
        sure: bool = True,
        quote: tuple[str, str] | None = None,
        message: str = "",
        **words: object,
    ) -> None:
        rule = RULES[rule_id]
        first, now = exchanges[0], exchanges[-1]
        told = {"first": first, "now": now, "waited": now.shown_wait(first), **words}
        because, place = quote or (rule.because, rule.place)
        super().__init__(
            rule=rule_id,
            severity=rule.severity if sure else "note",
            title=rule.title,
            message=message or _MESSAGES[rule_id].format_map(told),
            requests=sorted(exchange.n for exchange in exchanges),
            more_requests=0,
            at=format_timestamp(max(exchanges, key=lambda exchange: exchange.n).at_ms),
            because=because,
            place=place,
            matters=rule.matters,
            instead=rule.instead,
        )
        self.group, self.last, self.withdrawn = group, self.requests[-1], False


class ConductJudge:
    """Sees every exchange of one world in order, and remembers what its rules need."""

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        """Look at the next exchange."""
        return ()

    def after_return(self) -> ConductJudge:
        """Return who judges on once the world was put back: one that knows nothing of before."""
        return type(self)()

    def end(self) -> Iterable[Finding]:
        """Say what can only be said once the client is done. Changes nothing: it may go on."""
        return ()


_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(dict[_K, _V]):
    """What was last known of things; of so many at most, so that a long run stays small."""

    MOST = 2048

    def keep(self, key: _K, value: _V) -> _V:
        """Remember a thing, the longest known making room, and return it."""
        if key not in self and len(self) >= self.MOST:
            del self[next(iter(self))]
        self[key] = value
        return value
