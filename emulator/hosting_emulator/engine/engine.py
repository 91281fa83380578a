"""The engine of one world: answers exchanges, runs what is due, commits what was accepted.

No `await` stands between reading the world and swapping it, so there are no locks and two
concurrent requests are always one after the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from hosting_emulator.calls import idempotency
from hosting_emulator.calls.access import authorize
from hosting_emulator.calls.asking import Ask, Reply
from hosting_emulator.calls.inputs import HEADER_LIMIT, one_header, read_inputs
from hosting_emulator.calls.table import ANSWERS, answer_again
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.ids import make_ulid
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.commits import Commit, Keeper
from hosting_emulator.engine.exchange import Incoming, Outgoing
from hosting_emulator.engine.identity import Identity, bearer_token
from hosting_emulator.engine.limits import RateLimiter
from hosting_emulator.engine.machine import machine_ms, stopwatch_ns
from hosting_emulator.engine.problem_documents import (
    CONTENT_TYPE,
    problem_document,
    problem_headers,
    status_of,
)
from hosting_emulator.engine.request_log import Entry, RequestLog
from hosting_emulator.engine.routes import routes_for
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import ApiKey
from hosting_emulator.world.schedule import run_due
from hosting_emulator.world.streams import derive
from hosting_emulator.world.tables import API_KEYS, CLOCK, ONLY, OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change, World

_SUCCESS_HEADERS = (("Cache-Control", "no-store"),)


class StoreFailed(Exception):
    """A change could not be kept, so it was not made; the message says what went wrong."""


@dataclass(slots=True)
class _Trail:
    """What an exchange leaves for the request log."""

    number: int
    now_ms: int
    request_id: str | None = None
    call: str | None = None
    principal: str | None = None
    why: list[str] | None = None
    in_flight: str | None = None
    docs_url: Callable[[], str] | None = None

    def say(self, text: str) -> None:
        if self.why is None:
            self.why = []
        self.why.append(text)


class Engine:
    """One world and everything around it that is not part of its state."""

    def __init__(
        self, world: World, keeper: Keeper, machine: Callable[[], int] = machine_ms
    ) -> None:
        self.world = world
        self.keeper = keeper
        self.identity = Identity(world.seed, world.name)
        self.log = RequestLog()
        self._machine = machine
        self._limiter = RateLimiter()
        self._in_flight: set[str] = set()

    # --- time -----------------------------------------------------------------------------------

    def machine_ms(self) -> int:
        """The machine's time, as this engine sees it."""
        return self._machine()

    def now_ms(self) -> int:
        """World time, in milliseconds since 1970. It never goes back."""
        world = self.world
        return max(world.at_ms, clocks.read(world.clock, self._machine()))

    def settle(self) -> int:
        """Run what is due and return world time."""
        now_ms = self.now_ms()
        due = self.world.next_due_ms
        if due is not None and due <= now_ms:
            self._run_due(now_ms)
        return now_ms

    def _run_due(self, now_ms: int) -> int:
        found = run_due(self.world, now_ms)
        if found is None:
            return 0
        change, count = found
        self.commit(change, "due events")
        return count

    # --- commits --------------------------------------------------------------------------------

    def commit(self, change: Change, title: str) -> None:
        """Accept a change: keep it, then swap the world. Raises StoreFailed, changing nothing."""
        if change.empty:
            return
        world = change.applied()
        try:
            self.keeper.append(Commit(world.commit, world.at_ms, title, change.writes), world)
        except OSError as error:
            raise StoreFailed(f"the change could not be kept: {error.strerror or error}") from error
        self.world = world

    def replace_world(self, world: World) -> None:
        """Put another world (a reset or an import) in place of this one. Raises StoreFailed."""
        try:
            self.keeper.replace(world)
        except OSError as error:
            raise StoreFailed(f"the world could not be kept: {error.strerror or error}") from error
        self.world = world
        self.identity = Identity(world.seed, world.name)
        self.log.clear()
        self._limiter = RateLimiter()
        self._in_flight.clear()

    def durable(self) -> Awaitable[None] | None:
        """Return what to await before an answer leaves; None: nothing."""
        return self.keeper.durable()

    # --- exchanges ------------------------------------------------------------------------------

    def exchange(self, incoming: Incoming) -> Outgoing:
        """Answer one request of the public API. Never raises for anything a client did."""
        began_ns = stopwatch_ns()
        trail = _Trail(self.log.next_number(), self.world.at_ms, docs_url=incoming.docs_url)
        code: str | None = None
        try:
            outgoing = self._answer(incoming, trail)
        except Refused as refused:
            code = refused.code
            trail.say(refused.why or refused.detail)
            outgoing = self._refuse(refused, trail)
        except StoreFailed as failed:
            lost = Refused("service_unavailable", f"Nothing was changed: {failed}.")
            code = lost.code
            trail.say(lost.detail)
            outgoing = self._refuse(lost, trail)
        outgoing.in_flight = trail.in_flight
        self.log.add(
            Entry(
                n=trail.number,
                at_ms=trail.now_ms,
                method=incoming.method,
                path=incoming.path,
                call=trail.call,
                principal=trail.principal,
                status=outgoing.status,
                code=code,
                why=trail.why or [],
                took_ns=stopwatch_ns() - began_ns,
            )
        )
        return outgoing

    def release(self, outgoing: Outgoing) -> None:
        """Say that an answer has been sent (or given up): its Idempotency-Key is no longer in flight."""
        if outgoing.in_flight is not None:
            self._in_flight.discard(outgoing.in_flight)

    def _refuse(self, refused: Refused, trail: _Trail) -> Outgoing:
        request_id = self._new_request_id(trail)
        body = self._problem(refused, trail)
        headers = problem_headers(refused, request_id)
        return Outgoing(status_of(refused, self.world.assumptions), body, CONTENT_TYPE, headers)

    def _problem(self, refused: Refused, trail: _Trail) -> bytes:
        assumptions = self.world.assumptions
        docs_url = assumptions.docs_url
        if docs_url == "own":
            docs_url = trail.docs_url() if trail.docs_url else "/_emulator/docs"
        return problem_document(refused, self._new_request_id(trail), docs_url, assumptions)

    def request_id(self) -> str:
        """Return a new request id, for an answer that is not an exchange of the public API."""
        return self._new_request_id(_Trail(self.log.next_number(), self.now_ms()))

    def _new_request_id(self, trail: _Trail) -> str:
        if trail.request_id is None:
            randomness = derive(self.world.seed, "request", str(trail.number), size=10)
            trail.request_id = "req_" + make_ulid(trail.now_ms, randomness)
        return trail.request_id

    def _answer(self, incoming: Incoming, trail: _Trail) -> Outgoing:
        trail.now_ms = self.settle()
        self._read_request_id(incoming, trail)
        spec, subject_id = self._route(incoming, trail)
        if incoming.refused is not None:
            raise incoming.refused
        change = Change(self.world, trail.now_ms)
        principal, key = self.identity.authenticate(
            change, bearer_token(incoming.headers("Authorization"))
        )
        trail.principal = principal.person_id
        assumptions = self.world.assumptions
        if assumptions.rate_limit != "off":
            self._limiter.count(assumptions.rate_limit, principal.person_id, trail.now_ms)
        ask = Ask(
            spec=spec,
            subject_id=subject_id,
            request_id=lambda: self._new_request_id(trail),
            query=incoming.query,
            headers=incoming.headers,
            body=incoming.body,
            dev_port=incoming.dev_port,
            principal=principal,
        )
        read_inputs(ask, assumptions)
        change, reply = self._call(change, ask, trail)
        if key is not None and reply.status < 400:
            _note_use(change, key)
        if change.writes:
            self.commit(change, spec.call_id)
        return Outgoing(reply.status, reply.body, reply.content_type, self._headers(reply, trail))

    def _headers(self, reply: Reply, trail: _Trail) -> Sequence[tuple[str, str]]:
        if reply.status >= 400:  # a remembered refusal, whose header says what its body says
            request_id = msgspec.json.decode(reply.body)["request_id"]
        elif self.world.assumptions.request_id_on_success == "echoed":
            request_id = self._new_request_id(trail)
        else:
            return _SUCCESS_HEADERS
        return (*_SUCCESS_HEADERS, ("X-Request-Id", request_id))

    def _read_request_id(self, incoming: Incoming, trail: _Trail) -> None:
        found = incoming.headers("X-Request-Id")
        if not found:
            return
        try:
            request_id = one_header("X-Request-Id", found)
            if not 1 <= len(request_id) <= HEADER_LIMIT:
                raise Refused(
                    "invalid_request",
                    f"The header X-Request-Id has {len(request_id)} characters; it takes 1 to "
                    f"{HEADER_LIMIT}.",
                    field="X-Request-Id",
                )
        except Refused:
            if self.world.assumptions.request_id_invalid == "ignored":
                return
            raise
        trail.request_id = request_id

    def _route(self, incoming: Incoming, trail: _Trail) -> tuple[CallSpec, str]:
        routes = routes_for(self.world.assumptions.operation_path)
        spec, subject_id = routes.find(incoming.method, incoming.path)
        trail.call = spec.call_id
        return spec, subject_id

    def _call(self, change: Change, ask: Ask, trail: _Trail) -> tuple[Change, Reply]:
        found = authorize(change, ask)
        if ask.spec.call_id == "get_operation" and self._skip_ahead(change, found):
            # Time moved, and the world with it: the poll is answered in the new moment.
            change = Change(self.world, self.now_ms())
            found = authorize(change, ask)
            trail.now_ms = change.now_ms
            trail.say(f"the skip clock moved to {format_timestamp(change.now_ms)}")
        if ask.spec.idempotent:
            return change, self._call_once(change, ask, found, trail)
        return change, ANSWERS[ask.spec.call_id](change, ask, found)

    def _call_once(self, change: Change, ask: Ask, found: Any, trail: _Trail) -> Reply:
        assumptions = self.world.assumptions
        if assumptions.idempotency_in_flight == "refuse":
            self._take_flight(idempotency.storage_key(change, ask), trail)
        remembered = idempotency.recall(change, ask)
        if remembered is not None:
            trail.say(
                f"replay of the first answer under this Idempotency-Key ({remembered.status})"
            )
            return answer_again(change, ask, remembered)
        try:
            reply = ANSWERS[ask.spec.call_id](change, ask, found)
        except Refused as refused:
            if assumptions.idempotency_remembers == "all_answers":
                self._remember_refusal(ask, refused, trail)
            raise
        idempotency.remember(change, ask, reply)
        return reply

    def _take_flight(self, key: str, trail: _Trail) -> None:
        if key in self._in_flight:
            raise Refused(
                "idempotency_key_reused",
                "The first request with this Idempotency-Key is still being answered.",
            )
        self._in_flight.add(key)
        trail.in_flight = key

    def _remember_refusal(self, ask: Ask, refused: Refused, trail: _Trail) -> None:
        # Only under the assumption `idempotency_remembers: all_answers`: by default a refusal
        # leaves the key free and the world untouched.
        change = Change(self.world, trail.now_ms)
        status = status_of(refused, self.world.assumptions)
        reply = Reply(status, self._problem(refused, trail), content_type=CONTENT_TYPE)
        idempotency.remember(change, ask, reply)
        self.commit(change, f"{ask.spec.call_id} refused")

    # --- the skip clock, and advancing until an operation ends -----------------------------------

    def _skip_ahead(self, change: Change, operation: Any) -> bool:
        if self.world.clock.mode != "skip" or finished(operation):
            return False
        due_ms = self.due_of(operation.id)
        if due_ms is None:
            return False
        self.move_to(max(due_ms, change.now_ms))
        return True

    def due_of(self, operation_id: str) -> int | None:
        """When an operation (or the one it waits for) takes its next step; None: nothing is scheduled."""
        world = self.world
        operation = world.get(OPERATIONS, operation_id)
        if operation is None:
            return None
        event_key = operation.event
        if event_key is None:
            project = world.get(PROJECTS, operation.project_id)
            holder = world.get(OPERATIONS, project.claim) if project and project.claim else None
            event_key = holder.event if holder else None
        event = world.get(SCHEDULE, event_key) if event_key else None
        return event.due_ms if event else None

    def move_to(self, at_ms: int) -> int:
        """Move world time forward and run what comes due; returns the number of events.

        Raises ClockRefused when `at_ms` lies in the past.
        """
        now_ms = self.settle()
        clock = clocks.change(self.world.clock, now_ms, self._machine(), at_ms=at_ms)
        count = self._run_due(at_ms)
        self.set_clock(clock)
        return count

    def set_clock(self, clock: Any) -> None:
        """Give the world another clock."""
        change = Change(self.world, max(self.world.at_ms, clock.world_ms))
        change.put(CLOCK, ONLY, clock)
        self.commit(change, "clock")


def _note_use(change: Change, key: ApiKey) -> None:
    """Note when a key was last used, to the second, so that reading with a key seldom writes."""
    now = format_timestamp(change.now_ms)
    found = change.get(API_KEYS, key.id)
    if found is not None and (found.last_used_at is None or found.last_used_at[:19] != now[:19]):
        change.put(API_KEYS, key.id, replace(found, last_used_at=now))
