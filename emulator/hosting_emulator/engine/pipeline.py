"""The way of one exchange: the same named steps for every request, over one context.

A step reads and fills the context. It refuses by raising Refused, ends the way by returning an
answer, and asks for time by returning a Delay: the world goes on meanwhile, so the steps then begin
anew. None of them waits for anything or knows how an answer is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qs

import msgspec
from msgspec.structs import replace

from hosting_emulator.calls.access import authorize, count_request
from hosting_emulator.calls.answers import (
    ANSWERS,
    DEV_SESSION_COOKIE,
    DEV_SESSION_LIFETIME_MS,
    LONGER,
    REDEEM_PATH,
    dev_origin,
    redeem,
)
from hosting_emulator.calls.idempotency import answer_again, recall, remember
from hosting_emulator.calls.inputs import read_inputs, read_request_id
from hosting_emulator.calls.request import NO_STORE, Reply
from hosting_emulator.contract.calls import REDEEM_TICKET, MethodRefused, calls_at, is_retryable
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp
from hosting_emulator.engine.exchange import (
    Delay,
    ExchangeContext,
    problem_reply,
    retry_after_s,
    stopwatch_ns,
)
from hosting_emulator.engine.history import (
    FAULTS_COUNTED,
    RATE_COUNTED,
    WAIT_NOTED,
    StoreFailed,
)
from hosting_emulator.faults.decisions import (
    NOTHING,
    Decision,
    FaultSubject,
    decide,
    faults_in_order,
    matches,
    next_outcome,
)
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.variation.draws import vary_body, vary_headers, vary_paging
from hosting_emulator.variation.worlds import assumed_points
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import Phase, RetryWait
from hosting_emulator.world.streams import digest, place_of
from hosting_emulator.world.tables import (
    API_KEYS,
    FAULTS,
    OUTCOMES,
    RETRY_WAITS,
    SCHEDULE,
    TIMELINE,
)
from hosting_emulator.world.value import Change

if TYPE_CHECKING:
    from hosting_emulator.engine.engine import Engine

#: So many requests that were refused are remembered, for a clock that skips.
_MOST_WAITS = 1000
Step: TypeAlias = Callable[["Engine", ExchangeContext], Delay | Reply | None]


def admit(engine: Engine, ctx: ExchangeContext) -> None:
    """Number the request, run what is due, and read the X-Request-Id."""
    ctx.took_ns = stopwatch_ns()
    world = ctx.world = engine.world
    if not engine.log.holds(ctx):
        engine.log.count += 1
        ctx.n = engine.log.count
        ctx.in_progress = False
    ctx.starts = engine.starts
    ctx.at_ms = world.at_ms
    ctx.at_ms = engine.run_due()
    if ctx.decision is None:
        ctx.came_ms, ctx.real_ms = ctx.at_ms, engine.machine_ms
        if world.clock.mode == "skip":
            _skip_wait(engine, ctx)
    else:
        ctx.late_ms = engine.machine_ms - ctx.real_ms
    if found := ctx.headers.getall("X-Request-Id", ()):
        try:
            ctx.given_request_id = read_request_id(found, engine.world.assumptions)
        except Refused as refused:
            ctx.refused = refused


def _skip_wait(engine: Engine, ctx: ExchangeContext) -> None:
    """Move a skip clock to the end of the wait that the previous response to this request asked for."""
    ctx.wait_key = _wait_key(engine, ctx)
    wait = engine.world.get(RETRY_WAITS, ctx.wait_key)
    if wait is None or wait.due_ms <= ctx.at_ms:
        return
    engine.move_up_to(wait.due_ms)
    ctx.at_ms = engine.now_ms()
    moved = f"the skip clock moved to {format_timestamp(ctx.at_ms)}"
    ctx.why += (f"{moved}, as the previous response's Retry-After asked",)


def _wait_key(engine: Engine, ctx: ExchangeContext) -> str:
    """Return a digest of what a request and its retry share.

    That is the principal rather than the token: a fork of the world issues tokens of its own.
    """
    sent = ctx.headers.getall("Authorization", ())
    try:
        principal, key = engine.identity.authenticate(Change(engine.world, ctx.at_ms), sent)
    except Refused:
        caller = " ".join(sent)
    else:
        caller = f"{principal.user_id} {principal.organization_id} {key.id if key else ''}"
    return digest("\n".join((caller, ctx.method, ctx.path)))


def note_wait(engine: Engine, ctx: ExchangeContext, reply: Reply) -> None:
    """Remember until when a request was refused: a clock that skips moves there for its retry.

    That is as long as Retry-After says, or until the fault ends that refused it, or else until the
    timeline's next entry. What was answered with success has nothing to wait for.
    """
    if 200 <= reply.status < 400:
        return
    if not ctx.wait_key:
        return  # the clock did not skip yet when the request came
    told = retry_after_s(reply.headers)
    ends = [fault.rule.until_ms for fault in ctx.acted if fault.rule.until_ms is not None]
    if told is not None:
        due_ms = min(LATEST_MS, ctx.at_ms + told * 1000)
    elif ctx.acted:
        due_ms = min(ends, default=0)
    elif reply.status >= 500:
        planned = (e.due_ms for _, e in engine.world.rows(SCHEDULE) if e.kind == "timeline")
        due_ms = min(planned, default=0)
    else:
        return
    if due_ms <= ctx.at_ms:
        return
    noted = Change(engine.world, ctx.at_ms)
    waits = sorted(engine.world.rows(RETRY_WAITS), key=lambda row: row[1].due_ms)
    for place, (key, wait) in enumerate(waits):
        if wait.due_ms <= ctx.at_ms or place <= len(waits) - _MOST_WAITS:
            noted.delete(RETRY_WAITS, key)
    noted.put(RETRY_WAITS, ctx.wait_key, RetryWait(due_ms))
    with suppress(StoreFailed):  # the request was refused all the same
        engine.commit(noted, WAIT_NOTED)


def route(engine: Engine, ctx: ExchangeContext) -> None:
    """Find the call, and what the path names."""
    calls = calls_at(engine.world.assumptions.operation_path)
    try:
        spec, subject_id = calls.find(ctx.method, ctx.path)
    except Refused as refused:
        if isinstance(refused, MethodRefused):
            ctx.subject, ctx.subject_id = refused.subject, refused.subject_id
            if engine.world.assumptions.wrong_method == "not_found":
                refused = refused.as_unknown_path()
        if not ctx.path.startswith("/v1/"):
            # Nothing there is the API's: nobody need say who asks.
            raise _elsewhere(ctx.path) or refused from None
        ctx.refused = refused
        return
    ctx.spec, ctx.subject, ctx.subject_id = spec, spec.subject, subject_id
    ctx.call = spec.call_id


def _elsewhere(path: str) -> Refused | None:
    """Return what to say of a path that was meant for a world, or a dev origin, that is not there."""
    _, first, name, *_ = [*path.split("/"), "", ""]
    if first == "worlds" and name:
        told = f"No world is named {name[:64]!r}: GET /_emulator/worlds lists them."
    elif first == ".service":
        told = (
            f"Redeem a ticket with GET {REDEEM_PATH}?stage=dev&ticket=…, with a ticket "
            "of this world, at its redeem_url, or here if the client cannot reach that host."
        )
    else:
        return None
    return Refused("resource_not_found", told, why="no call has this path")


def authenticate(engine: Engine, ctx: ExchangeContext) -> None:
    """Find out who asks, before anything is said of what else is wrong (contract, Authentication)."""
    ctx.change = change = Change(engine.world, ctx.at_ms)
    sent = ctx.headers.getall("Authorization", ())
    try:
        ctx.principal, ctx.key = engine.identity.authenticate(change, sent)
    except Refused as refused:
        if sent and refused.why is None:
            refused.why = engine.owner_of(sent[0].partition(" ")[2].strip())
        if not engine.world.has_faults or ctx.spec is None:
            raise
        ctx.refused = refused  # once the faults have seen it
        ctx.credentials = "invalid" if sent else "none"
        return
    if ctx.refused is not None:
        raise ctx.refused
    if ctx.key is not None:
        ctx.credentials = "key"


def turn_away(engine: Engine, ctx: ExchangeContext) -> None:
    """Refuse a request that is not for this server, whoever asks."""
    refused = ctx.refused
    assert refused is not None
    with suppress(Refused):
        route(engine, ctx)  # for the log
    raise refused


def faults_before_commit(engine: Engine, ctx: ExchangeContext) -> Delay | Reply | None:
    """Let the armed faults act before anything is done."""
    if ctx.decision is None:
        asks = engine.world.has_faults
        ctx.decision = _decide(engine, ctx, "before_commit") if asks else NOTHING
        if ctx.decision.delay_ms:
            return Delay(ctx.decision.delay_ms)
    reply = _act(engine, ctx, ctx.decision, "before_commit") if ctx.decision.acted else None
    if reply is None and ctx.refused is not None:
        raise ctx.refused
    return reply


def read(engine: Engine, ctx: ExchangeContext) -> None:
    """Count the request for the rate limit, and read its headers, query and body."""
    assumptions = engine.world.assumptions
    if assumptions.rate_limit != "off":
        counted = Change(engine.world, ctx.at_ms)
        count_request(counted, ctx.principal.user_id)
        engine.commit(counted, RATE_COUNTED)
        ctx.change = Change(engine.world, ctx.at_ms)
    read_inputs(ctx, assumptions)


def authorize_caller(engine: Engine, ctx: ExchangeContext) -> None:
    """Find what the call is about, if its caller may make it. A skip clock moves for a poll."""
    ctx.judged = True
    if ctx.change.world is not engine.world:
        ctx.change = Change(engine.world, ctx.at_ms)
    ctx.record = authorize(ctx.change, ctx)
    if (
        engine.world.clock.mode == "skip"
        and ctx.call == "get_operation"
        and not finished(ctx.record)
    ):
        due_ms = engine.due_of(ctx.record.id)
        if due_ms is None:
            return
        # Time moves, and the world with it: the poll is answered in the new moment.
        engine.move_up_to(min(due_ms, LATEST_MS))
        ctx.change = Change(engine.world, engine.now_ms())
        ctx.record = authorize(ctx.change, ctx)
        ctx.at_ms = ctx.change.now_ms
        ctx.why += (f"the skip clock moved to {format_timestamp(ctx.at_ms)}",)


def perform(engine: Engine, ctx: ExchangeContext) -> None:
    """Make the call, or answer again what its Idempotency-Key was answered with."""
    variation = engine.world.variation
    if variation is not None:
        # Under one Idempotency-Key an answer has one name: its replays are varied as it was.
        ctx.what = _name(engine, ctx, ctx.idempotency_key if ctx.spec.idempotent else "")
        if ctx.spec.response == "DeploymentPage":
            ctx.paging = vary_paging(variation, ctx.what, ctx.values["limit"], LONGER)
            page = {"limit": ctx.paging.size, "cursor_longer": ctx.paging.longer}
            ctx.values = {**ctx.values, **page}
    remembered = recall(ctx.change, ctx, engine.in_flight) if ctx.spec.idempotent else None
    if remembered is not None:
        reply = answer_again(ctx.change, ctx, remembered)
        ctx.replayed = True
        first = f"replay of the first response for this Idempotency-Key ({remembered.status})"
        ctx.why += (first,)
    else:
        begins = ctx.spec.idempotent and ctx.spec.response == "Operation"
        if engine.world.tables[OUTCOMES.name] and begins:
            ctx.outcome = next_outcome(ctx.change, _fault_subject(engine, ctx))
        try:
            reply = ANSWERS[ctx.spec.call_id](ctx.change, ctx, ctx.record)
            if begins:
                _observe_outcomes(engine, ctx, refused=False)
        except Refused as refused:
            if begins:
                _observe_outcomes(engine, ctx, refused=True)
            if (
                ctx.spec.idempotent
                and ctx.change.assumptions.idempotency_remembers == "all_answers"
                # One that is retryable may yet succeed.
                and not is_retryable(refused.code)
            ):
                told = refuse(engine, ctx, refused)
                told.varied = ctx.varied
                kept = Change(engine.world, ctx.at_ms)
                remember(kept, ctx, told)
                engine.commit(kept, f"{ctx.spec.call_id} refused")
            raise
    if variation is not None and reply.varied is None:  # one that was remembered stays as it was
        reply.body, reply.varied = vary_body(
            variation, ctx.what, ctx.spec.response, reply.body, ctx.paging
        )
    ctx.varied = reply.varied or ()
    ctx.assumption = reply.assumption
    if ctx.spec.idempotent and not ctx.replayed:
        remember(ctx.change, ctx, reply)
    if reply.status >= 400:  # a remembered refusal, whose header says what its body says
        problem = msgspec.json.decode(reply.body)
        ctx.code = problem["code"]
        reply.headers = (*NO_STORE, ("X-Request-Id", problem["request_id"]))
    elif ctx.change.assumptions.request_id_on_success == "echoed":
        reply.headers = (*NO_STORE, ("X-Request-Id", ctx.request_id()))
    ctx.reply = reply


def commit(engine: Engine, ctx: ExchangeContext) -> None:
    """Keep what the call changed, unless a fault breaks its answer before the commit."""
    change, reply = ctx.change, ctx.reply
    assert reply is not None
    if ctx.effect is not None and not ctx.effect.arrives:
        return
    only_used = not change.writes
    if ctx.key is not None and reply.status < 400:
        # When it was last used, to the second, so that reading with a key seldom writes.
        now, key = format_timestamp(change.now_ms), change.row(API_KEYS, ctx.key.id)
        if key.last_used_at is None or key.last_used_at[:19] != now[:19]:
            change.put(API_KEYS, key.id, replace(key, last_used_at=now))
    if change.writes:
        try:
            engine.commit(change, ctx.spec.call_id)
        except StoreFailed:
            if not only_used:  # else it read, and is answered whatever the disk says
                raise
    if engine.world.has_faults and engine.world.tables[TIMELINE.name]:
        counted = Change(engine.world, ctx.at_ms)
        count_call(counted, ctx.spec.call_id)
        with suppress(StoreFailed):  # the call's own change is kept: its answer is true
            engine.commit(counted, "timeline")


def faults_after_commit(engine: Engine, ctx: ExchangeContext) -> Reply | None:
    """Let the armed faults act on a successful answer: the change is made.

    A request that was refused, they only see; and none is looked for where one before the commit has
    ended the search.
    """
    if ctx.decision is None or ctx.effect is not None or not engine.world.has_faults:
        return None
    refused = ctx.reply is None or ctx.reply.status >= 400
    decision = _decide(engine, ctx, "after_commit", refused=refused)
    ctx.delay_ms = decision.delay_ms
    return _act(engine, ctx, decision, "after_commit") if decision.acted else None


def find_origin(engine: Engine, ctx: ExchangeContext) -> None:
    """Name the project whose dev origin is asked. It needs no token."""
    ctx.call, ctx.subject, ctx.subject_id = REDEEM_TICKET, "project", ctx.record.id


def redeem_ticket(engine: Engine, ctx: ExchangeContext) -> None:
    """Redeem a ticket: a redirect with a session; a fault may keep it from happening."""
    change, project = Change(engine.world, ctx.at_ms), ctx.record
    found = parse_qs(ctx.query, keep_blank_values=True)
    tickets = found.get("ticket", [])
    if len(tickets) != 1 or found.get("stage", []) != ["dev"]:
        raise Refused("invalid_request", "Redeem a ticket with ?stage=dev&ticket=….")
    session = redeem(change, project, tickets[0])
    if ctx.effect is None or ctx.effect.arrives:
        engine.commit(change, REDEEM_TICKET)
    cookie = (
        f"{DEV_SESSION_COOKIE}={session}; Path=/; Max-Age={DEV_SESSION_LIFETIME_MS // 1000}; "
        "HttpOnly; Secure; SameSite=Lax"
    )
    headers = (
        ("Location", f"{dev_origin(change, project, ctx.dev_port)}/"),
        ("Set-Cookie", cookie),
        *NO_STORE,
        ("Referrer-Policy", "no-referrer"),
    )
    ctx.reply = Reply(303, b"", content_type="", headers=headers)


#: The way of a request of the API.
CALL_STEPS: Sequence[Step] = (
    admit,
    route,
    authenticate,
    faults_before_commit,
    read,
    authorize_caller,
    perform,
    commit,
    faults_after_commit,
)
#: The way of a request under a Host, or from a page, that this server does not answer.
MISDIRECTED_STEPS: Sequence[Step] = (admit, turn_away)
#: The way of a ticket's redemption, which is no call of the contract.
REDEEM_STEPS: Sequence[Step] = (
    admit,
    find_origin,
    faults_before_commit,
    redeem_ticket,
    faults_after_commit,
)


# --- refusals --------------------------------------------------------------------------------------


def refuse(engine: Engine, ctx: ExchangeContext, refused: Refused) -> Reply:
    """Return the problem document that answers instead, as the world's assumptions have it."""
    ctx.code = refused.code
    reply = problem_reply(
        refused, ctx.request_id(), ctx.docs_url(), engine.world.assumptions, ctx.spec
    )
    if (variation := engine.world.variation) is not None:
        # A refused request leaves its key free, and the next try is another answer.
        ctx.what = _name(engine, ctx, kind=" refused")
        reply.body, ctx.varied = vary_body(variation, ctx.what, "ProblemDetails", reply.body)
    return reply


# --- faults ----------------------------------------------------------------------------------------


def _decide(
    engine: Engine, ctx: ExchangeContext, phase: Phase, *, refused: bool = False
) -> Decision:
    """Ask the armed faults about a request of the API."""
    if not any(fault.rule.phase == phase for fault in engine.world.tables[FAULTS.name].values()):
        return NOTHING
    subject = _fault_subject(engine, ctx)
    return decide_at(engine, subject, ctx.at_ms, phase, refused=refused, number=ctx.n)


def decide_at(
    engine: Engine,
    subject: FaultSubject,
    now_ms: int,
    phase: Phase,
    *,
    refused: bool = False,
    number: int | None = None,
) -> Decision:
    """Ask the armed faults; what they count is committed whatever becomes of the request.

    `number` is the number of the request in the request log, if it has one.
    """
    faults = [fault for fault in faults_in_order(engine.world) if fault.rule.phase == phase]
    decision = NOTHING
    if any(matches(fault.rule, subject) for fault in faults):
        change = Change(engine.world, now_ms)
        decision = decide(change, subject, phase, refused=refused)
        try:
            engine.commit(change, FAULTS_COUNTED)
        except StoreFailed:
            if phase == "before_commit":
                raise
            return NOTHING  # what was done before is kept, and is not to be told otherwise
    if faults:
        engine.usage.observe_faults(
            faults, engine.world, subject, decision, now_ms, number, refused=refused
        )
    return decision


def _observe_outcomes(engine: Engine, ctx: ExchangeContext, *, refused: bool) -> None:
    """Count a request that begins an operation for the armed outcomes."""
    if engine.world.tables[OUTCOMES.name]:
        applied_id = ctx.outcome.id if ctx.outcome is not None else None
        subject = _fault_subject(engine, ctx)
        engine.usage.observe_outcomes(
            engine.world, subject, applied_id, ctx.at_ms, ctx.n, refused=refused
        )


def _fault_subject(engine: Engine, ctx: ExchangeContext) -> FaultSubject:
    project, organization = ctx.about(engine.world)
    return FaultSubject(
        call=str(ctx.call),
        project=project,
        organization=organization,
        principal=ctx.principal.user_id,
        method=ctx.method,
        path=ctx.path,
        headers=ctx.headers.getall,
        query=ctx.query,
        body=ctx.body,
        credentials=ctx.credentials,
        replayed=ctx.replayed,
    )


def _act(engine: Engine, ctx: ExchangeContext, decision: Decision, phase: Phase) -> Reply | None:
    """Return what a fault answers in place of the call; None: the answer goes out, maybe broken."""
    ctx.acted += decision.acted
    for fault in decision.acted:
        ctx.why += (f"{fault.id} ({fault.kind}, {phase}) acted, hit {fault.hits}",)
    effect = decision.effect
    if effect is None:
        return None
    if decision.problem is not None:
        ctx.effect = None
        return refuse(engine, ctx, decision.problem)
    reply = reply_of(effect)
    ctx.effect = effect if reply is None or effect.silent else None
    if reply is not None:
        ctx.varied = ()
    return reply


def reply_of(effect: FaultKind) -> Reply | None:
    """Return what an effect answers that is no problem (status 0: nothing); None: it breaks another."""
    if effect.silent:
        return Reply(0, b"", content_type="", headers=())
    page = effect.page()
    return page and Reply(
        page.status, page.body, content_type=page.content_type, headers=page.headers
    )


# --- where an exchange meets its world's variation; what may vary and how is decided there --------------


def _name(engine: Engine, ctx: ExchangeContext, key: str = "", kind: str = "") -> str:
    """Name an answer by what is asked, and the how manieth of these it is.

    So what else was asked before shifts no draw; nor do ids, which tell the time.
    """
    id_ = ctx.subject_id
    about = place_of(id_) if ctx.subject == "operation" and is_ulid(id_) else id_
    whose = f"{ctx.principal.user_id} {key}" if key else ""
    asked = f"{engine.starts} {ctx.call or ctx.method} {about} {ctx.principal.user_id}{kind}"
    return engine.log.name_answer(asked, whose)


def dress(engine: Engine, reply: Reply, ctx: ExchangeContext) -> None:
    """Vary an answer's headers and media type, and note what else of it the variation has made."""
    world, variation = engine.world, engine.world.variation
    if variation is None or not reply.content_type.startswith("application/"):
        return  # what a proxy or a dev origin answers is none of the contract's
    what = ctx.what or _name(engine, ctx)
    reply.content_type, reply.headers, varied = vary_headers(
        variation, what, reply.content_type, reply.headers, ctx.request_id()
    )
    told = {"call": ctx.call, "code": ctx.code, "decided_by": ctx.assumption}
    assumed = assumed_points(
        variation, world.assumptions, reply.status, replayed=ctx.replayed, **told
    )
    ctx.varied = tuple(sorted({*ctx.varied, *varied, *assumed}))


# --- the timeline: faults and interventions that a scenario planned ---------------------------------


def carry_out(change: Change, key: str) -> None:
    """Do what an entry of the timeline says, and note in it what came of that.

    What makes no sense any more (an operation that has ended, say) is noted, not raised: time goes
    on. History, events and report tell of it, and a story fails.
    """
    # Imported here: only a world with a timeline needs to read faults and interventions.
    from hosting_emulator.faults.documents import FAULT, OUTCOME, arm
    from hosting_emulator.faults.interventions import read_intervention

    planned = change.row(TIMELINE, key)
    refused = False
    armed_id = None
    attempt = change.fork()
    try:
        if planned.action == "intervene":
            said = read_intervention(planned.document).apply(attempt)
            armed_id = _armed_by(change, attempt)
            if armed_id is not None and planned.optional:
                fault = attempt.row(FAULTS, armed_id)
                rule = replace(fault.rule, optional=True)
                attempt.put(FAULTS, armed_id, replace(fault, rule=rule))
        else:
            family = FAULT if planned.action == "fault" else OUTCOME
            armed_id = arm(attempt, planned.document, family).id
            said = f"{armed_id} was armed"
        change.take(attempt)
    except DocumentRefused as error:
        said, refused = f"{next(iter(planned.document))} was refused: {error}", True
    done = replace(planned, done=True, said=said, refused=refused, armed=armed_id)
    change.put(TIMELINE, key, done)


def _armed_by(change: Change, attempt: Change) -> str | None:
    """Return the id of the fault that an intervention armed in a fork of a change, if it did."""
    before = {id_ for id_, _ in change.applied().rows(FAULTS)}
    return next((id_ for id_, _ in attempt.applied().rows(FAULTS) if id_ not in before), None)


def count_call(change: Change, call_id: str) -> None:
    """Count a successful call for the entries that wait for it, and carry out those it completes."""
    for key, planned in sorted(change.world.rows(TIMELINE), key=lambda row: row[1].order):
        if planned.done or not planned.after_calls or planned.call not in (None, call_id):
            continue
        planned = change.row(TIMELINE, key)
        left = (planned.after_calls or 1) - 1
        change.put(TIMELINE, key, replace(planned, after_calls=left))
        if left == 0:
            carry_out(change, key)
