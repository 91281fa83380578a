"""The steps in which armed faults act on an exchange, before and after its commit."""

from __future__ import annotations

from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.alteration_steps import skip_alterations
from hosting_emulator.engine.deliveries import prepare_second_delivery
from hosting_emulator.engine.effects import Delay
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.fault_subjects import fault_subject
from hosting_emulator.engine.history import FAULTS_COUNTED
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.refusals import refuse
from hosting_emulator.faults.decisions import NO_EFFECT, Decision, decide, faults_in_order
from hosting_emulator.faults.kinds import FaultKind, Stage, stage_of
from hosting_emulator.faults.matching import FaultSubject, matches
from hosting_emulator.faults.uploads import limits_of_decision
from hosting_emulator.world.fault_records import CommitPhase
from hosting_emulator.world.tables import (
    FAULTS,
    OUTCOMES,
)
from hosting_emulator.world.value import Change


def faults_before_commit(engine: Engine, ctx: ExchangeContext) -> Delay | Reply | None:
    """Apply the armed faults before the call runs, starting with faults on the request body."""
    if ctx.decision is None:
        if engine.world.has_faults_or_timeline and not ctx.second_delivery_of:
            outcome = _faults_on_upload(engine, ctx)
            if outcome is not None:
                return outcome
            prepare_second_delivery(ctx, _decide(engine, ctx, "delivery"))
        ctx.decision = NO_EFFECT
        if engine.world.has_faults_or_timeline and not ctx.is_discarded:
            ctx.decision = _decide(engine, ctx, "before_commit")
        if ctx.decision.delay_ms:
            return Delay(ctx.decision.delay_ms)
    reply = None
    if ctx.decision.acted:
        reply = _act(engine, ctx, ctx.decision, "before_commit")
    if reply is not None:
        skip_alterations(engine, ctx, ctx.decision.acted[-1].id)
    if reply is None and ctx.refused is not None:
        raise ctx.refused
    return reply


def _faults_on_upload(engine: Engine, ctx: ExchangeContext) -> Delay | Reply | None:
    """Apply the armed faults to the body of a request.

    If the request arrived over a socket, these faults were chosen and their delay passed before the
    steps began.
    """
    if ctx.upload is None:
        ctx.upload = decide_upload(engine, ctx)
        if ctx.upload.acted:
            delay_ms = limits_of_decision(ctx.upload).late_ms(len(ctx.body))
            if delay_ms:
                return Delay(delay_ms)
    if not ctx.upload.acted:
        return None
    return _act(engine, ctx, ctx.upload, "before_commit")


def decide_upload(engine: Engine, ctx: ExchangeContext) -> Decision:
    """Choose the armed faults that act on a request body. Raises StoreFailed."""
    return _decide(engine, ctx, "upload")


def faults_after_commit(engine: Engine, ctx: ExchangeContext) -> Reply | None:
    """Apply the armed faults to a successful response, after the call has been committed.

    Faults that match a refused request count it, but do not act on it. If a fault that acted before
    the commit will disrupt the connection while the response is sent, no other fault is considered.
    """
    if ctx.decision is None or ctx.effect is not None or not engine.world.has_faults_or_timeline:
        return None
    if ctx.is_discarded:
        return None
    refused = ctx.reply is None or ctx.code is not None
    decision = _decide(engine, ctx, "after_commit", refused=refused)
    ctx.delay_ms = decision.delay_ms
    if not decision.acted:
        return None
    return _act(engine, ctx, decision, "after_commit")


def _decide(
    engine: Engine, ctx: ExchangeContext, stage: Stage, *, refused: bool = False
) -> Decision:
    """Choose the armed faults that act on a request to the public API."""
    if not has_faults_of(engine, stage):
        return NO_EFFECT
    subject = fault_subject(engine, ctx)
    return decide_at(engine, subject, ctx.at_ms, stage, refused=refused, number=ctx.n)


def has_faults_of(engine: Engine, stage: Stage) -> bool:
    """Return whether any armed fault acts in this stage."""
    return any(stage_of(fault) == stage for fault in engine.world.tables[FAULTS.name].values())


def decide_at(
    engine: Engine,
    subject: FaultSubject,
    now_ms: int,
    stage: Stage,
    *,
    refused: bool = False,
    number: int | None = None,
) -> Decision:
    """Choose the armed faults that act in a stage, and commit their counts.

    The counts remain committed even if the request is refused afterwards. `number` is the request's
    number in the request log, or None if the log does not list it. Raises StoreFailed, except in
    the `after_commit` stage.
    """
    faults = [fault for fault in faults_in_order(engine.world) if stage_of(fault) == stage]
    decision = NO_EFFECT
    if any(matches(fault.rule, subject) for fault in faults):
        change = Change(engine.world, now_ms)
        decision = decide(change, subject, stage, refused=refused)
        try:
            engine.commit(change, FAULTS_COUNTED)
        except StoreFailed:
            if stage != "after_commit":
                raise
            return NO_EFFECT  # the call has been committed, so its response must not change
    if faults:
        engine.usage.observe_faults(
            faults, engine.world, subject, decision, now_ms, number, refused=refused
        )
    return decision


def observe_outcomes(engine: Engine, ctx: ExchangeContext, *, refused: bool) -> None:
    """Record that the armed outcomes were considered for an operation-starting request."""
    if not engine.world.tables[OUTCOMES.name]:
        return
    applied_id = None if ctx.outcome is None else ctx.outcome.id
    subject = fault_subject(engine, ctx)
    engine.usage.observe_outcomes(
        engine.world, subject, applied_id, ctx.at_ms, ctx.n, refused=refused
    )


def _act(
    engine: Engine, ctx: ExchangeContext, decision: Decision, commit_phase: CommitPhase
) -> Reply | None:
    """Apply the chosen faults. Return the response that replaces the call's own, or None.

    If no fault replaces the response, `ctx.effect` can still disrupt it while it is being sent.
    """
    ctx.acted += decision.acted
    for fault in decision.acted:
        ctx.why += (f"{fault.id} ({fault.kind}, {commit_phase}) acted, hit {fault.hits}",)
    effect = decision.effect
    if effect is None:
        return None
    if decision.problem is not None:
        ctx.effect = None
        ctx.discard_alterations()
        return refuse(engine, ctx, decision.problem)
    reply = reply_of(effect)
    ctx.effect = effect if reply is None or effect.sends_nothing else None
    if reply is not None:
        ctx.varied = ()
        ctx.discard_alterations()
    return reply


def reply_of(effect: FaultKind) -> Reply | None:
    """Return the response that a fault sends in place of the call's response.

    The status is 0 if the fault sends nothing. Returns None if the fault sends a problem, or only
    disrupts the call's own response.
    """
    if effect.sends_nothing:
        return Reply(0, b"", content_type="", headers=())
    page = effect.page()
    if page is None:
        return None
    return Reply(page.status, page.body, content_type=page.content_type, headers=page.headers)
