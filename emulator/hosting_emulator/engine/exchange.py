"""One exchange through the core: all that is known of it, and the effects it asks for on its way.

These are plain values: the server makes the context and carries the effects out.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from math import inf
from types import coroutine
from typing import Any, NamedTuple, TypeAlias, cast

import msgspec

from hosting_emulator.calls.request import NO_STORE, CallRequest, Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CallSpec, Subject, is_retryable, problem_status
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.engine.history import Commit
from hosting_emulator.faults.decisions import Decision
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.variation.draws import Paging
from hosting_emulator.world.records import ApiKey, Fault
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import Change, World

#: Returns nanoseconds on a clock that only measures how long something took.
stopwatch_ns = time.perf_counter_ns


def machine_ms(read: Callable[[], int] = time.time_ns) -> int:
    """Return the machine's time in whole milliseconds since 1970: the one place that reads it.

    `read` is looked up once: a test library that puts another clock in place of a process's own
    (freezegun) does not reach the emulator that runs in it.
    """
    return read() // 1_000_000


class Delay(NamedTuple):
    """Wait for so many real milliseconds. `answered`: what was asked is done, only the client waits."""

    ms: int
    answered: bool = False


class Durable(NamedTuple):
    """Await what this returns, if anything; it may raise OSError."""

    kept: Callable[[], Awaitable[None] | None]


#: Stands for what the log lets go of.
GONE: Any = None
#: An exchange on its way, and how it waits.
Exchange: TypeAlias = Coroutine[Delay | Durable, None, Reply]
Wait: TypeAlias = Callable[[Delay | Durable], Awaitable[None]]


@coroutine
def hand_out(effect: Delay | Durable) -> Generator[Delay | Durable, None, None]:
    """Leave the waiting to whoever runs the exchange by `send`."""
    yield effect


def run_through(exchange: Exchange) -> Reply:
    """Carry an exchange through without waiting for anything."""
    try:
        while True:
            exchange.send(None)
    except StopIteration as done:
        reply: Reply = done.value
        return reply


class Connection:
    """The connection that requests came by.

    Its positions are taken from one sequence (`server.protocol.next_position`) that all connections
    of the process share with the arrivals and departures of requests: they order these events. 0
    means that the event has not happened.
    """

    __slots__ = ("began", "closed_by_client", "ended")

    def __init__(self, began: int = 0) -> None:
        self.began = began
        self.ended = 0
        #: When the client closed its side, or the connection was lost.
        self.closed_by_client = 0

    def follows(self, other: Connection) -> bool:
        """Tell whether it began after another had ended."""
        return 0 < other.ended < self.began


#: Requests of this process come by none.
NO_CONNECTION = Connection()


class Passage:
    """A request's way through its connection: the positions of its arrival and departure.

    It departs when the last byte of its whole response has been handed to the connection. 0: it has
    not departed, or a fault broke the response off.
    """

    __slots__ = ("_connection", "arrival", "arrived_s", "departure")

    def __init__(self, connection: Connection, arrival: int, arrived_s: float = 0.0) -> None:
        self._connection = connection
        self.arrival = arrival
        #: When it arrived, by the event loop's clock.
        self.arrived_s = arrived_s
        self.departure = 0

    @property
    def is_abandoned(self) -> bool:
        """Whether the client closed the connection before the whole response had been sent."""
        closed = self._connection.closed_by_client
        return closed > 0 and (self.departure == 0 or closed < self.departure)

    def end(self, lost: str | None) -> float:
        """Return the position at which the client stopped waiting; infinite while it still waits.

        A fault that loses the response (`lost`) may leave the client waiting until it closes the
        connection.
        """
        closed = self._connection.closed_by_client or inf
        if lost is not None:
            return closed
        return min(self.departure or inf, closed)


class Entry(CallRequest, kw_only=True):
    """One exchange, as the request log keeps it. `why` are the reasons that were noted, in order.

    `raw_headers` are all headers as they came; `headers_cut` says that long ones were kept in part,
    each saying how long it was. `subject_id` is what the path names, the id of a `subject`. The
    principal is NOBODY also where it was not looked at; `judged`: nothing refused the request before
    access was; `code` is the problem it was answered with, `lost` the connection fault that ate the
    answer. Bodies are kept up to `request_log.BODY_KEPT` bytes, their whole lengths beside them.
    `acted` are the faults that did, as their hits counted then; `varied` the points at which the
    answer was; `assumption` is the one that decided it, where only the core can tell.

    `came_ms` is world time when the request came, before a skip clock moved for it; `real_ms` is the
    machine's time then. `late_ms` is how much later, in real time, faults let the answer arrive.
    `took_ns` is real time in the core; until the exchange is over, when that began.
    `from_emulator`: a user sent it from the emulator's page, or by replaying an exchange.

    `passage` is how the request went through its connection; None: it came by no socket.
    """

    raw_headers: Sequence[tuple[bytes, bytes]] = ()
    headers_cut: bool = False
    call: str | None = None
    subject: Subject | None = None
    status: int = 0
    code: str | None = None
    replayed: bool = False
    lost: str | None = None
    why: tuple[str, ...] = ()
    took_ns: int = 0
    body_bytes: int = 0
    answer_headers: Sequence[tuple[str, str]] = ()
    content_type: str = ""
    answer: bytes = b""
    answer_bytes: int = 0
    judged: bool = False
    commits: tuple[Commit, ...] = ()
    acted: tuple[Fault, ...] = ()
    varied: tuple[str, ...] = ()
    assumption: str | None = None
    came_ms: int = 0
    real_ms: int = 0
    late_ms: int = 0
    connection: Connection = NO_CONNECTION
    from_emulator: bool = False
    passage: Passage | None = None
    #: Whether it waits: for its body, for a delay or for the disk. Its response has not left.
    in_progress: bool = False
    #: Its place in the order in which requests were answered, from 1. 0: it is not answered yet.
    answered: int = 0

    @property
    def project(self) -> str | None:
        """The id of the project that the path names."""
        return self.subject_id if self.subject == "project" else None

    @property
    def operation(self) -> str | None:
        """The id of the operation that the path names."""
        return self.subject_id if self.subject == "operation" else None

    def about(self, world: World) -> tuple[str | None, str | None]:
        """Return project and organization: the path's, or its operation's, and that of who asks."""
        project, organization = None, self.principal.organization_id
        if self.subject == "project":
            project = self.subject_id
        elif self.subject == "operation":
            operation = world.get(OPERATIONS, self.subject_id)
            project = operation.project_id if operation else None
        elif self.subject == "organization":
            organization = self.subject_id
        return project, organization


class ExchangeContext(Entry, kw_only=True):
    """One exchange on its way: what else came in, and what the steps find out.

    `refused` is what the server found wrong before the core saw it (an oversized or broken body);
    `docs_url` tells where our own documentation is.
    """

    refused: Refused | None = None
    docs_url: Callable[[], str]
    #: The API key that says who asks, if it is one.
    key: ApiKey | None = None
    #: What came in its Authorization header (see `faults.decisions.FaultSubject`).
    credentials: str = "token"
    #: The change that its call is made in, and what the call is about.
    change: Change = cast("Change", None)
    record: Any = None
    reply: Reply | None = None
    #: What faults do before the commit, once that is decided, and to the answer on its wire.
    decision: Decision | None = None
    effect: FaultKind | None = None
    #: How late, in real milliseconds, the answer leaves once all is done.
    delay_ms: int = 0
    #: Under which key a skip clock keeps its wait (`RetryWait`); empty under another clock.
    wait_key: str = ""
    #: Whether others are to come before its answer leaves.
    held: bool = False
    #: What its answer is varied by, and how its page is.
    what: str = ""
    paging: Paging | None = None

    def again(self, refused: Refused) -> ExchangeContext:
        """Return the same request as it came, to be refused."""
        given = (
            *("method", "path", "query", "headers", "body", "body_bytes", "dev_port"),
            *("raw_headers", "docs_url", "record", "from_emulator"),
        )
        kept: dict[str, Any] = {name: getattr(self, name) for name in given}
        return ExchangeContext(**kept, refused=refused)


def retry_after_s(headers: Iterable[tuple[str, str]]) -> int | None:
    """Return the seconds of an answer's Retry-After; None: it has none in that form.

    More digits than nine are no time that anybody waits.
    """
    for name, value in headers:
        if (
            name.lower() == "retry-after"
            and value.isascii()
            and value.isdigit()
            and len(value) < 10
        ):
            return int(value)
    return None


def too_large(limit: int, assumptions: Assumptions) -> Refused:
    """Return the refusal of a request body of more than `limit` bytes."""
    return Refused(
        assumptions.code_of("body_too_long"),
        f"The request body is larger than {limit} bytes.",
        assumption="body_limit_bytes",
    )


def problem_reply(
    refused: Refused,
    request_id: str,
    own_docs_url: str,
    assumptions: Assumptions,
    spec: CallSpec | None = None,
) -> Reply:
    """Return a refusal as the contract's Errors part writes it (RFC 9457), of a call if it found one.

    `own_docs_url` is where our own documentation is, without a slash at its end.
    """
    problem = PROBLEMS[refused.code]
    status = problem_status(refused.code, assumptions, spec, refused.status)
    docs_url = own_docs_url if assumptions.docs_url == "own" else assumptions.docs_url
    document: dict[str, Any] = {
        "type": f"{docs_url}/errors/{problem.slug}",
        "title": problem.title,
        "status": status,
        "detail": refused.detail,
        "code": refused.code,
        "request_id": request_id,
        "retryable": is_retryable(problem.code),
        "suggested_action": refused.action,
    }
    headers = [("X-Request-Id", request_id), *NO_STORE]
    if refused.retry_after_seconds is not None:
        document["retry_after_seconds"] = refused.retry_after_seconds
        headers.append(("Retry-After", str(refused.retry_after_seconds)))
    if status == 401:
        headers.append(("WWW-Authenticate", "Bearer"))
    if allow := getattr(refused, "allow", None):
        headers.append(("Allow", allow))
    return Reply(
        status,
        msgspec.json.encode(document),
        content_type="application/problem+json",
        headers=headers,
    )
