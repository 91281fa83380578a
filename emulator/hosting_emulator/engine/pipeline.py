"""The steps of one exchange.

Every request passes through a sequence of steps that share a context.

Each step reads the context and adds to it. A step can refuse the request by raising Refused, end
the exchange by returning a response, or request a wait by returning a Delay. The world can change
during a wait, so all steps run again afterwards. A step itself never waits, and does not know how
responses are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeAlias
from urllib.parse import parse_qs

import msgspec
from msgspec.structs import replace

from hosting_emulator.calls.access import authorize, count_request
from hosting_emulator.calls.deployment_pages import LONGER
from hosting_emulator.calls.dev_access import REDEEM_PATH
from hosting_emulator.calls.idempotency import recall, remember, replay
from hosting_emulator.calls.inputs import read_inputs, read_request_id
from hosting_emulator.calls.request import NO_STORE, Reply
from hosting_emulator.calls.responses import CALL_FUNCTIONS
from hosting_emulator.contract.call_table import MethodRefused, PathRefused, calls_at
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp
from hosting_emulator.engine.alteration_steps import alter_reply, count_alterations
from hosting_emulator.engine.deliveries import refuse_second_delivery
from hosting_emulator.engine.effects import Delay
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.fault_steps import (
    faults_after_commit,
    faults_before_commit,
    observe_outcomes,
)
from hosting_emulator.engine.fault_subjects import fault_subject
from hosting_emulator.engine.foreign_credentials import (
    describe_foreign_key,
    describe_foreign_ticket,
)
from hosting_emulator.engine.history import RATE_COUNTED
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.machine_clock import stopwatch_ns
from hosting_emulator.engine.redemption import find_origin, redeem_ticket
from hosting_emulator.engine.refusals import name_response, refuse
from hosting_emulator.engine.skip_wait import move_to_end_of_wait
from hosting_emulator.engine.stale_reads import read_stale
from hosting_emulator.engine.timeline import count_call
from hosting_emulator.faults.decisions import next_outcome
from hosting_emulator.messages import SKIP_NOTE
from hosting_emulator.variation.draws import vary_body, vary_paging
from hosting_emulator.world.plans import is_finished
from hosting_emulator.world.records import Variation
from hosting_emulator.world.tables import API_KEYS, OUTCOMES, TIMELINE
from hosting_emulator.world.value import Change

Step: TypeAlias = Callable[[Engine, ExchangeContext], Delay | Reply | None]


def admit(engine: Engine, ctx: ExchangeContext) -> None:
    """Assign a number to the request, run all due events, and read the X-Request-Id."""
    ctx.took_ns = stopwatch_ns()
    world = engine.world
    ctx.world = world
    if not engine.log.is_in_progress(ctx):
        engine.log.count += 1
        ctx.n = engine.log.count
        ctx.in_progress = False
    ctx.starts = engine.starts
    ctx.at_ms = world.at_ms
    ctx.at_ms = engine.run_due()
    is_delayed_upload = ctx.upload is not None and bool(ctx.upload.acted)
    if ctx.decision is None and not is_delayed_upload:
        ctx.came_ms = ctx.at_ms
        ctx.real_ms = engine.machine_ms
        if world.clock.mode == "skip" and not ctx.second_delivery_of:
            move_to_end_of_wait(engine, ctx)
    else:
        # The steps are running again after a delay, so measure how long it was.
        ctx.late_ms = engine.machine_ms - ctx.real_ms
    request_ids = ctx.headers.getall("X-Request-Id", ())
    if request_ids:
        try:
            ctx.given_request_id = read_request_id(request_ids, engine.world.assumptions)
        except Refused as refused:
            ctx.refused = refused


def route(engine: Engine, ctx: ExchangeContext) -> None:
    """Find the call and the subject that the request's path identifies."""
    calls = calls_at(engine.world.assumptions.operation_path)
    try:
        match = calls.find(ctx.method, ctx.path)
    except Refused as refused:
        if isinstance(refused, MethodRefused):
            ctx.subject = refused.subject
            ctx.subject_id = refused.subject_id
            if engine.world.assumptions.wrong_method == "not_found":
                refused = refused.as_unknown_path()
        if not ctx.path.startswith("/v1/"):
            # Paths outside /v1 are not part of the API, so refuse them without authentication.
            raise _misplaced(engine, ctx) or _unknown_path(refused) from None
        ctx.refused = refused
        return
    ctx.spec = match.spec
    ctx.subject = match.spec.subject
    ctx.subject_id = match.subject_id
    ctx.call = match.spec.call_id


def _unknown_path(refused: Refused) -> Refused:
    """Return the refusal for a path outside /v1. Its detail can suggest the most similar path in
    the API.
    """
    if isinstance(refused, PathRefused) and refused.hint:
        refused.detail = f"{refused.detail.rstrip('.')}{refused.hint}"
    return refused


def _misplaced(engine: Engine, ctx: ExchangeContext) -> Refused | None:
    """Return the refusal for a path that belongs to an unknown world or to a dev origin, or None
    for any other path.
    """
    why = "no call has this path"
    _, first, name, *_ = [*ctx.path.split("/"), "", ""]
    action = None
    if first == "worlds" and name:
        action = "Check the name of the world in the base URL."
        detail = f"There is no world {name[:64]!r}; GET /_emulator/worlds lists all worlds."
        if name == "v1":
            # The client has resolved the path against the base URL as if the latter ended in a file
            # name.
            detail = "There is no world 'v1'; the path of a call in a world is /worlds/NAME/v1/…"
    elif first == ".service":
        detail = (
            f"Redeem a ticket of this world with GET {REDEEM_PATH}?stage=dev&ticket=… at its "
            "redeem_url, or here if the client cannot reach that host."
        )
        [secret, *_] = parse_qs(ctx.query).get("ticket", [""])
        why = describe_foreign_ticket(engine, secret) or why
    else:
        return None
    return Refused("resource_not_found", detail, why=why, action=action)


def authenticate(engine: Engine, ctx: ExchangeContext) -> None:
    """Authenticate the caller before reporting any other problem (contract, section Authentication)."""
    change = Change(engine.world, ctx.at_ms)
    ctx.change = change
    sent = ctx.headers.getall("Authorization", ())
    try:
        ctx.principal, ctx.key = engine.access_tokens.authenticate(change, sent)
    except Refused as refused:
        if sent and refused.why is None:
            refused.why = describe_foreign_key(engine, sent[0].partition(" ")[2].strip())
        if not engine.world.has_faults_or_timeline or ctx.spec is None:
            raise
        # Let a later step raise the refusal, so that the armed faults act first.
        ctx.refused = refused
        ctx.credentials = "invalid" if sent else "none"
        return
    if ctx.refused is not None:
        raise ctx.refused
    if ctx.key is not None:
        ctx.credentials = "key"


def refuse_misdirected(engine: Engine, ctx: ExchangeContext) -> None:
    """Refuse a request that is not meant for this server, whatever its credentials."""
    refused = ctx.refused
    assert refused is not None
    # Find the route, so that the request log can name the call.
    with suppress(Refused):
        route(engine, ctx)
    raise refused


def read(engine: Engine, ctx: ExchangeContext) -> None:
    """Count the request against the rate limit, then parse its headers, query and body."""
    assumptions = engine.world.assumptions
    if assumptions.rate_limit != "off" and not ctx.second_delivery_of:
        _count_for_rate_limit(engine, ctx)
    read_inputs(ctx, assumptions)


def _count_for_rate_limit(engine: Engine, ctx: ExchangeContext) -> None:
    """Count a request against the service's rate limit. Raises Refused if the limit is exceeded."""
    counted = Change(engine.world, ctx.at_ms)
    try:
        count_request(counted, ctx.principal.user_id)
    except Refused as refused:
        refuse_second_delivery(ctx, refused)
        raise
    engine.commit(counted, RATE_COUNTED)
    ctx.change = Change(engine.world, ctx.at_ms)


def authorize_caller(engine: Engine, ctx: ExchangeContext) -> None:
    """Find the record that the call is about, and check that the caller is allowed to make the call.

    A poll of an unfinished operation moves a skip clock to the operation's next event. Raises
    Refused.
    """
    ctx.judged = True
    if ctx.change.world is not engine.world:
        ctx.change = Change(engine.world, ctx.at_ms)
    ctx.record = authorize(ctx.change, ctx)
    if (
        engine.world.clock.mode == "skip"
        and ctx.call == "get_operation"
        and not ctx.second_delivery_of
        and not is_finished(ctx.record)
    ):
        due_ms = engine.due_of(ctx.record.id)
        if due_ms is None:
            return
        # Move time before the call runs, so that the response shows the world as of the new time.
        engine.move_up_to(min(due_ms, LATEST_MS))
        ctx.change = Change(engine.world, engine.now_ms())
        ctx.record = authorize(ctx.change, ctx)
        ctx.at_ms = ctx.change.now_ms
        ctx.why += (f"{SKIP_NOTE} {format_timestamp(ctx.at_ms)}",)


def perform(engine: Engine, ctx: ExchangeContext) -> None:
    """Run the call, or replay the response remembered for its Idempotency-Key."""
    variation = engine.world.variation
    if variation is not None:
        _vary_request(engine, ctx, variation)
    remembered = None
    if ctx.spec.idempotent:
        remembered = recall(ctx.change, ctx, engine.in_flight)
    if remembered is not None:
        reply = replay(ctx.change, ctx, remembered)
        ctx.replayed = True
        status = remembered.status
        ctx.why += (f"replay of the first response for this Idempotency-Key ({status})",)
    else:
        reply = _call(engine, ctx)
        if engine.world.has_faults_or_timeline:
            reply = read_stale(engine, ctx, reply)
    # A remembered response has already been varied, so do not vary it again.
    if variation is not None and reply.varied is None:
        reply.body, reply.varied = vary_body(
            variation, ctx.response_name, ctx.spec.response, reply.body, ctx.paging
        )
    ctx.varied = reply.varied or ()
    ctx.assumption = reply.assumption
    if reply.status >= 400:
        # Headers are not remembered, so take a remembered refusal's X-Request-Id from its body.
        problem = msgspec.json.decode(reply.body)
        ctx.code = problem["code"]
        reply.headers = (*NO_STORE, ("X-Request-Id", problem["request_id"]))
    elif ctx.change.assumptions.request_id_on_success == "echoed":
        reply.headers = (*NO_STORE, ("X-Request-Id", ctx.request_id()))
    alter_reply(engine, ctx, reply, breaking=False)
    if ctx.spec.idempotent and not ctx.replayed:
        remember(ctx.change, ctx, reply)
    alter_reply(engine, ctx, reply, breaking=True)
    ctx.reply = reply


def _vary_request(engine: Engine, ctx: ExchangeContext, variation: Variation) -> None:
    """Name the response, and vary the page size and cursor length of a list."""
    # Responses for the same Idempotency-Key share a name, so a replay varies in the same way as the
    # first response.
    key = ctx.idempotency_key if ctx.spec.idempotent else ""
    ctx.response_name = name_response(engine, ctx, key)
    if ctx.spec.response == "DeploymentPage":
        ctx.paging = vary_paging(variation, ctx.response_name, ctx.values["limit"], LONGER)
        page = {"limit": ctx.paging.size, "cursor_longer": ctx.paging.longer}
        ctx.values = {**ctx.values, **page}


def _call(engine: Engine, ctx: ExchangeContext) -> Reply:
    """Run the call. If the call starts an operation, that operation gets the next matching armed
    outcome.
    """
    begins_operation = ctx.spec.idempotent and ctx.spec.response == "Operation"
    if begins_operation and engine.world.tables[OUTCOMES.name]:
        ctx.outcome = next_outcome(ctx.change, fault_subject(engine, ctx))
    try:
        reply = CALL_FUNCTIONS[ctx.spec.call_id](ctx.change, ctx, ctx.record)
    except Refused as refused:
        if begins_operation:
            observe_outcomes(engine, ctx, refused=True)
        _remember_refusal(engine, ctx, refused)
        raise
    if begins_operation:
        observe_outcomes(engine, ctx, refused=False)
    return reply


def _remember_refusal(engine: Engine, ctx: ExchangeContext, refused: Refused) -> None:
    """Remember a refusal for the request's Idempotency-Key, if the world's assumptions say so.

    A retryable refusal is never remembered, because a retry can succeed.
    """
    if not ctx.spec.idempotent or PROBLEMS[refused.code].retryable:
        return
    if ctx.change.assumptions.idempotency_remembers != "all_answers":
        return
    reply = refuse(engine, ctx, refused)
    reply.varied = ctx.varied
    alter_reply(engine, ctx, reply, breaking=False)
    ctx.remembered_refusal = reply
    if _is_retryable(reply):
        return
    change = Change(engine.world, ctx.at_ms)
    remember(change, ctx, reply)
    engine.commit(change, f"{ctx.spec.call_id} refused")


def _is_retryable(reply: Reply) -> bool:
    """Return the `retryable` member of a problem document, which a fault may have altered."""
    return bool(msgspec.json.decode(reply.body).get("retryable"))


def commit(engine: Engine, ctx: ExchangeContext) -> None:
    """Commit the call's change, unless a fault before the commit suppresses the response."""
    change = ctx.change
    reply = ctx.reply
    assert reply is not None
    if ctx.effect is not None and not ctx.effect.delivers_response:
        return
    is_read = not change.writes
    if ctx.key is not None and ctx.code is None:
        _note_use_of_key(change, ctx.key.id)
    if change.writes:
        try:
            engine.commit(change, ctx.spec.call_id)
        except StoreFailed:
            # A read must succeed even if the time of its API key's last use cannot be stored.
            if not is_read:
                raise
    is_counted = engine.world.has_faults_or_timeline and not ctx.second_delivery_of
    if is_counted and engine.world.tables[TIMELINE.name]:
        counted = Change(engine.world, ctx.at_ms)
        count_call(counted, ctx.spec.call_id)
        # The call itself has already been committed, so its response remains valid.
        with suppress(StoreFailed):
            engine.commit(counted, "timeline")


def _note_use_of_key(change: Change, key_id: str) -> None:
    """Store when an API key was last used. To keep reads from writing often, do so at most once a
    second.
    """
    now = format_timestamp(change.now_ms)
    key = change.row(API_KEYS, key_id)
    if key.last_used_at is None or key.last_used_at[:19] != now[:19]:
        change.put(API_KEYS, key.id, replace(key, last_used_at=now))


#: The steps of a request to the API.
CALL_STEPS: Sequence[Step] = (
    admit,
    route,
    authenticate,
    faults_before_commit,
    read,
    authorize_caller,
    perform,
    commit,
    count_alterations,
    faults_after_commit,
)
#: The steps of a request with a Host or Origin that this server does not serve.
MISDIRECTED_STEPS: Sequence[Step] = (admit, refuse_misdirected)
#: The steps of a request that redeems a ticket. Redeeming is not one of the contract's calls.
REDEEM_STEPS: Sequence[Step] = (
    admit,
    find_origin,
    faults_before_commit,
    redeem_ticket,
    faults_after_commit,
)
