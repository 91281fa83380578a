"""The engine of one world: takes each exchange through the core, in the order the design gives.

Request id, route, authentication, rate limit, inputs, access, idempotency, the call, the commit;
whatever refuses on the way becomes a problem document, and all of it leaves a trail in the log.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from hosting_emulator.calls import idempotency
from hosting_emulator.calls.access import authorize
from hosting_emulator.calls.inputs import HEADER_LIMIT, one_header, read_inputs
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.calls.table import FUNCTIONS, answer_again
from hosting_emulator.contract.calls import CallSpec, MethodRefused, calls_at
from hosting_emulator.contract.ids import make_ulid
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.commits import Keeper
from hosting_emulator.engine.events import Feed
from hosting_emulator.engine.exchange import Incoming, Outgoing
from hosting_emulator.engine.fault_answers import (
    fault_kind,
    fault_subject,
    gateway_answer,
    refusal_of,
)
from hosting_emulator.engine.history import Snapshot, Snapshots
from hosting_emulator.engine.identity import Identity, bearer_token
from hosting_emulator.engine.limits import RateLimiter
from hosting_emulator.engine.live_world import LiveWorld, StoreFailed, anchored
from hosting_emulator.engine.machine import machine_ms, stopwatch_ns
from hosting_emulator.engine.problem_documents import (
    CONTENT_TYPE,
    problem_document,
    problem_headers,
    status_of,
)
from hosting_emulator.engine.request_log import RequestLog, recorded
from hosting_emulator.engine.tally import Tally
from hosting_emulator.engine.timeline import count_call
from hosting_emulator.engine.trail import Committed, Trail
from hosting_emulator.engine.varying import (
    dress,
    problem_assumptions,
    vary_ask,
    vary_problem,
    vary_reply,
)
from hosting_emulator.faults.deciding import Decision, Subject, decide
from hosting_emulator.world.fault_records import (
    Abort,
    ConnectionReset,
    EmptyResponse,
    GatewayError,
    MalformedResponse,
    Phase,
    RateLimit,
    Timeout,
    Truncate,
)
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import ApiKey
from hosting_emulator.world.streams import derive
from hosting_emulator.world.tables import API_KEYS, TIMELINE
from hosting_emulator.world.value import Change, World

#: Answers a request, noting on its trail why. Raises Refused or StoreFailed.
Answerer = Callable[[Incoming, Trail], Outgoing]
_SUCCESS_HEADERS = (("Cache-Control", "no-store"),)


class Engine(LiveWorld):
    """A live world, and all that answers for it without being part of its state."""

    def __init__(
        self,
        world: World,
        keeper: Keeper,
        machine: Callable[[], int] = machine_ms,
        tally: Tally | None = None,
    ) -> None:
        super().__init__(world, keeper, machine)
        self._tally = tally or Tally()
        self.identity = Identity(world.seed, world.name)
        self.log = RequestLog()
        #: What happens here, told to whoever listens.
        self.feed = Feed(machine() * 1000)
        self._trail: Trail | None = None
        self.snapshots = Snapshots()
        self._limiter = RateLimiter()
        self._in_flight: set[str] = set()
        # Requests are counted from 1 again after a restart, and a frozen clock shows the same moment.
        self._starts = keeper.starts
        self._beside = 0

    def replace_world(self, world: World, title: str = "replaced") -> None:
        """Put another world in place of this one, and forget the old one's requests."""
        self._put_in_place(world, title)
        self.log.clear()
        self._starts = self._beside = 0

    def restore(self, snapshot: Snapshot, title: str = "restored") -> None:
        """Put an earlier state of this world back, as one more commit; its request log goes on.

        Time goes on from where it was then; a real clock shows the machine's. Raises StoreFailed.
        """
        world = anchored(snapshot.world, snapshot.at_ms, self._machine())
        self._put_in_place(replace(world, commit=self.world.commit + 1), title)
        self.log.turn()

    def _put_in_place(self, world: World, title: str) -> None:
        super().replace_world(world, title)
        self.identity = Identity(world.seed, world.name)
        self._limiter = RateLimiter()
        self._in_flight.clear()
        if self.feed.awake:
            self.feed.replaced(title, self.world)

    def exchange(self, incoming: Incoming, answer: Answerer | None = None) -> Outgoing:
        """Answer one request of the public API. Never raises for anything a client did.

        `answer` answers in place of the API: see `redeeming`. What it refuses becomes a problem.
        """
        began_ns = stopwatch_ns()
        world = self.world
        trail = Trail(self.log.next_number(), world.at_ms, world, docs_url=incoming.docs_url)
        trail.commits = incoming.commits
        self._trail = trail
        if world.variation is not None:
            trail.what = trail.number_text = self._number(trail)
        try:
            outgoing = (answer or self._answer)(incoming, trail)
        except Refused as refused:
            trail.code = refused.code
            trail.assumption = refused.assumption
            trail.say(refused.why or refused.detail)
            outgoing = self._refuse(refused, trail)
            outgoing.breakage = trail.breakage
        except StoreFailed as failed:
            lost = Refused("service_unavailable", f"Nothing was changed: {failed}.")
            trail.code = lost.code
            trail.say(lost.detail)
            outgoing = self._refuse(lost, trail)
        if outgoing.resume:
            self.log.take_back()
            incoming.commits = trail.commits
            incoming.came = trail.came_ms, trail.real_ms
            self._trail = None
            return outgoing
        outgoing.in_flight = trail.in_flight
        if self.world.variation is not None:
            dress(self.world, outgoing, trail, self._new_request_id(trail))
        entry = recorded(incoming, outgoing, trail, stopwatch_ns() - began_ns)
        self.log.add(entry)
        self._trail = None
        if self.feed.awake:
            self.feed.exchanged(entry)
        self._tally.add(entry)
        if self._tally.listener is not None:
            self._tally.listener(self.world, entry)
        return outgoing

    def commit(self, change: Change, title: str) -> None:
        """Accept a change, and count it. Raises StoreFailed, changing nothing."""
        before = self.world.commit
        super().commit(change, title)
        after = self.world
        if after.commit == before:
            return
        self._tally.commits += 1
        if self._trail is not None:
            if self._trail.commits is None:
                self._trail.commits = []
            made = Committed(title, change.writes, after, change.entered)
            self._trail.commits.append(made)
        if self.feed.awake:
            self.feed.committed(title, change.writes, after)

    def release(self, outgoing: Outgoing) -> None:
        """Say that an answer has been sent (or given up): its Idempotency-Key is no longer in flight."""
        if outgoing.in_flight is not None:
            self._in_flight.discard(outgoing.in_flight)

    def _refuse(self, refused: Refused, trail: Trail) -> Outgoing:
        request_id = self._new_request_id(trail)
        body = self._problem(refused, trail)
        headers = problem_headers(refused, request_id)
        status = status_of(refused, problem_assumptions(self.world, trail))
        return Outgoing(status, body, CONTENT_TYPE, headers)

    def _problem(self, refused: Refused, trail: Trail) -> bytes:
        assumptions = problem_assumptions(self.world, trail)
        docs_url = assumptions.docs_url
        if docs_url == "own":
            docs_url = trail.docs_url() if trail.docs_url else "/_emulator/docs"
        document = problem_document(refused, self._new_request_id(trail), docs_url, assumptions)
        variation = self.world.variation
        return document if variation is None else vary_problem(variation, document, trail)

    def request_id(self) -> str:
        """Return a new request id, for an answer that is not an exchange of the public API.

        It takes no number of the request log, which would miss it.
        """
        self._beside += 1
        return self._derived_id(self._counted(f"beside/{self._beside}"), self.now_ms())

    def _new_request_id(self, trail: Trail) -> str:
        if trail.request_id is None:
            trail.request_id = self._derived_id(self._number(trail), trail.now_ms)
        return trail.request_id

    def _number(self, trail: Trail) -> str:
        """Return a request's number as no other of this world has it, also after a restart."""
        return self._counted(str(trail.number))

    def _counted(self, number: str) -> str:
        return f"{self._starts}/{number}" if self._starts else number

    def _derived_id(self, number: str, now_ms: int) -> str:
        return "req_" + make_ulid(now_ms, derive(self.world.seed, "request", number, size=10))

    def _answer(self, incoming: Incoming, trail: Trail) -> Outgoing:
        trail.now_ms = trail.came_ms = self.run_due()
        trail.real_ms = self.machine_ms
        if incoming.came is not None:
            came_ms, real_ms = incoming.came
            trail.delayed_ms = trail.real_ms - real_ms
            trail.came_ms, trail.real_ms = came_ms, real_ms
        self._read_request_id(incoming, trail)
        spec, subject_id = self._route(incoming, trail)
        if incoming.refused is not None:
            raise incoming.refused
        principal, key = self.identity.authenticate(
            Change(self.world, trail.now_ms), bearer_token(incoming.headers("Authorization"))
        )
        trail.principal = principal
        subject: Subject | None = None
        if self.world.has_faults or incoming.decided is not None:
            subject = fault_subject(self.world, spec, subject_id, principal, incoming)
            answered = self._before(subject, incoming, trail)
            if answered is not None:
                return answered
        assumptions = self.world.assumptions
        if assumptions.rate_limit != "off":
            self._limiter.count(assumptions.rate_limit, principal.person_id, trail.now_ms)
        ask = CallRequest(
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
        outgoing = self._accept(ask, key, trail)
        return outgoing if subject is None else self._after(outgoing, subject, trail)

    def _accept(self, ask: CallRequest, key: ApiKey | None, trail: Trail) -> Outgoing:
        """Make the call, commit what it changed, and return its answer."""
        change, reply = self._call(Change(self.world, trail.now_ms), ask, trail)
        if key is not None and reply.status < 400:
            _note_use(change, key)
        if change.writes and not isinstance(trail.breakage, Truncate | MalformedResponse):
            self.commit(change, ask.spec.call_id)
        if self.world.has_faults and self.world.count(TIMELINE):
            counted = Change(self.world, trail.now_ms)
            count_call(counted, ask.spec.call_id)
            self.commit(counted, "timeline")
        headers = self._headers(reply, trail)
        return Outgoing(
            reply.status, reply.body, reply.content_type, headers, breakage=trail.breakage
        )

    def _before(self, subject: Subject, incoming: Incoming, trail: Trail) -> Outgoing | None:
        """Let faults of the phase `before_commit` act; None: the call is made all the same."""
        decision = self._decide_before(subject, incoming, trail)
        if decision.delay_ms:
            incoming.decided = dataclasses.replace(decision, delay_ms=0)
            return Outgoing(0, b"", "", delay_ms=decision.delay_ms, resume=True)
        trail.breakage = decision.effect
        return self._instead(decision, trail)

    def _decide_before(self, subject: Subject, incoming: Incoming, trail: Trail) -> Decision:
        if incoming.decided is None:
            return self._decide(subject, "before_commit", trail)
        _explain(incoming.decided, "before_commit", trail)
        return incoming.decided

    def _decide(self, subject: Subject, phase: Phase, trail: Trail) -> Decision:
        """CallRequest the armed faults; what they count is committed whatever becomes of the request."""
        change = Change(self.world, trail.now_ms)
        decision = decide(change, subject, phase)
        self.commit(change, "faults counted")
        _explain(decision, phase, trail)
        return decision

    def _instead(self, decision: Decision, trail: Trail) -> Outgoing | None:
        """Return the answer that a fault gives in place of the call's; None: the call is made."""
        effect = decision.effect
        if isinstance(effect, Abort | RateLimit):
            refused = refusal_of(effect, decision)
            trail.code = refused.code
            return self._refuse(refused, trail)
        if isinstance(effect, GatewayError):
            trail.varied = ()
            return gateway_answer(effect)
        if isinstance(effect, Timeout | ConnectionReset | EmptyResponse):
            trail.varied = ()
            return Outgoing(0, b"", "", breakage=effect)
        return None

    def _after(self, outgoing: Outgoing, subject: Subject, trail: Trail) -> Outgoing:
        """Let faults of the phase `after_commit` act on a successful answer: the change is made."""
        decision = self._decide(subject, "after_commit", trail)
        instead = self._instead(decision, trail)
        if instead is None:
            instead = outgoing
            instead.breakage = decision.effect or outgoing.breakage
        instead.delay_ms = decision.delay_ms
        return instead

    def _headers(self, reply: Reply, trail: Trail) -> Sequence[tuple[str, str]]:
        if reply.status >= 400:  # a remembered refusal, whose header says what its body says
            request_id = msgspec.json.decode(reply.body)["request_id"]
        elif self.world.assumptions.request_id_on_success == "echoed":
            request_id = self._new_request_id(trail)
        else:
            return _SUCCESS_HEADERS
        return (*_SUCCESS_HEADERS, ("X-Request-Id", request_id))

    def _read_request_id(self, incoming: Incoming, trail: Trail) -> None:
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

    def _route(self, incoming: Incoming, trail: Trail) -> tuple[CallSpec, str]:
        calls = calls_at(self.world.assumptions.operation_path)
        try:
            spec, subject_id = calls.find(incoming.method, incoming.path)
        except MethodRefused as refused:
            trail.about(refused.subject, refused.subject_id)
            raise
        trail.call = spec.call_id
        trail.about(spec.subject, subject_id)
        return spec, subject_id

    def _call(self, change: Change, ask: CallRequest, trail: Trail) -> tuple[Change, Reply]:
        trail.judged = True
        found = authorize(change, ask)
        if ask.spec.call_id == "get_operation" and self._skip_ahead(change, found):
            # Time moved, and the world with it: the poll is answered in the new moment.
            change = Change(self.world, self.now_ms())
            found = authorize(change, ask)
            trail.now_ms = change.now_ms
            trail.say(f"the skip clock moved to {format_timestamp(change.now_ms)}")
        variation = self.world.variation
        if variation is not None:
            vary_ask(ask, variation, trail)
        if ask.spec.idempotent:
            return change, self._call_once(change, ask, found, trail)
        reply = FUNCTIONS[ask.spec.call_id].answer(change, ask, found)
        return change, reply if variation is None else vary_reply(variation, reply, ask, trail)

    def _call_once(self, change: Change, ask: CallRequest, found: Any, trail: Trail) -> Reply:
        assumptions = self.world.assumptions
        if assumptions.idempotency_in_flight == "refuse":
            self._take_flight(idempotency.storage_key(change, ask), trail)
        remembered = idempotency.recall(change, ask)
        if remembered is not None:
            trail.replayed = True
            trail.say(
                f"replay of the first answer under this Idempotency-Key ({remembered.status})"
            )
            return vary_reply(
                self.world.variation, answer_again(change, ask, remembered), ask, trail
            )
        try:
            reply = FUNCTIONS[ask.spec.call_id].answer(change, ask, found)
        except Refused as refused:
            if assumptions.idempotency_remembers == "all_answers":
                self._remember_refusal(ask, refused, trail)
            raise
        if self.world.variation is not None:
            reply = vary_reply(self.world.variation, reply, ask, trail)
        idempotency.remember(change, ask, reply)
        return reply

    def _take_flight(self, key: str, trail: Trail) -> None:
        if key in self._in_flight:
            raise Refused(
                "idempotency_key_reused",
                "The first request with this Idempotency-Key is still being answered.",
            )
        self._in_flight.add(key)
        trail.in_flight = key

    def _remember_refusal(self, ask: CallRequest, refused: Refused, trail: Trail) -> None:
        # Only under the assumption `idempotency_remembers: all_answers`: by default a refusal
        # leaves the key free and the world untouched.
        change = Change(self.world, trail.now_ms)
        status = status_of(refused, problem_assumptions(self.world, trail))
        body = self._problem(refused, trail)
        reply = Reply(status, body, content_type=CONTENT_TYPE, varied=trail.varied)
        idempotency.remember(change, ask, reply)
        self.commit(change, f"{ask.spec.call_id} refused")

    def _skip_ahead(self, change: Change, operation: Any) -> bool:
        if self.world.clock.mode != "skip" or finished(operation):
            return False
        due_ms = self.due_of(operation.id)
        if due_ms is None:
            return False
        self.move_up_to(due_ms)
        return True


def _explain(decision: Decision, phase: Phase, trail: Trail) -> None:
    trail.acted += decision.acted
    for fault in decision.acted:
        trail.say(f"{fault.id} ({fault_kind(fault)}, {phase}) acted, its hit {fault.hits}")


def _note_use(change: Change, key: ApiKey) -> None:
    """Note when a key was last used, to the second, so that reading with a key seldom writes."""
    now = format_timestamp(change.now_ms)
    found = change.get(API_KEYS, key.id)
    if found is not None and (found.last_used_at is None or found.last_used_at[:19] != now[:19]):
        change.put(API_KEYS, key.id, replace(found, last_used_at=now))
