"""Applies faults that make a read show an earlier state of the world, taken from its history.

The call first runs in the current state, against which access is checked. If a fault acts, it is
replaced by the response that the call returns in the earlier state.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hosting_emulator.calls.access import not_found
from hosting_emulator.calls.request import Reply
from hosting_emulator.calls.responses import READ_FUNCTIONS
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.fault_subjects import fault_subject
from hosting_emulator.engine.timeline import run_timeline_entry
from hosting_emulator.faults.decisions import Decision, faults_in_order, is_chosen
from hosting_emulator.faults.kinds import kind_of, stage_of
from hosting_emulator.faults.kinds.stale_read import StaleRead
from hosting_emulator.faults.matching import FaultSubject, matches
from hosting_emulator.faults.stale_read_rules import FRESH_REASON, needs_breaking
from hosting_emulator.world.due_events import run_due
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.records import Operation, Project
from hosting_emulator.world.tables import FAULTS, OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change, World, apply


def read_stale(engine: Engine, ctx: ExchangeContext, reply: Reply) -> Reply:
    """Return the response from an earlier state if an armed fault acts, and otherwise `reply`.

    After the call, `count_alterations` commits the faults' counts. Raises Refused if a breaking
    fault acts and the read is not possible in the earlier state.
    """
    if ctx.spec.method != "GET" or ctx.is_discarded:
        return reply
    faults = [fault for fault in faults_in_order(engine.world) if stage_of(fault) == "read"]
    if not faults:
        return reply
    change = ctx.alteration_counts or Change(engine.world, ctx.at_ms)
    subject = fault_subject(engine, ctx)
    stale_reply: Reply | None = None
    refusal: Refused | None = None
    acted: tuple[Fault, ...] = ()
    for armed in faults:
        if not matches(armed.rule, subject):
            continue
        fault = replace(armed, seen=armed.seen + 1)
        if is_chosen(change, fault, subject):
            try:
                stale_reply = _stale_reply(engine, ctx, _kind_of(fault))
                acted = (replace(fault, hits=fault.hits + 1),)
            except _NotStale as error:
                ctx.unaltered += ((fault.id, error.reason),)
            except Refused as refused:
                refusal = refused
                acted = (replace(fault, hits=fault.hits + 1),)
        change.put(FAULTS, fault.id, acted[-1] if acted else fault)
        if acted:
            break
    if change.writes:
        ctx.alteration_counts = change
    _observe(engine, ctx, faults, subject, acted)
    if acted:
        _note(ctx, acted[-1])
    if refusal is not None:
        raise refusal
    return stale_reply or reply


class _NotStale(Exception):
    """A stale response is not possible. `reason` is a clause that says why, without a period."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _kind_of(fault: Fault) -> StaleRead:
    kind = kind_of(fault)
    assert isinstance(kind, StaleRead)
    return kind


def _stale_reply(engine: Engine, ctx: ExchangeContext, kind: StaleRead) -> Reply:
    """Return the response to a read in an earlier state.

    Raises _NotStale if a stale response is not possible. For a breaking fault, raises Refused if
    the read is refused in the earlier state.
    """
    if not kind.breaking and needs_breaking(ctx.spec.call_id):
        raise _NotStale(FRESH_REASON)
    world, at_ms = _state_at(engine, ctx.at_ms - kind.age_ms)
    try:
        reply = _read(Change(world, at_ms), ctx)
    except Refused as refused:
        if kind.breaking:
            ctx.stale_at_ms = at_ms
            raise
        raise _NotStale(
            f"in the state as of {format_timestamp(at_ms)} the response would be {refused.code}, which "
            "needs `breaking: true`"
        ) from None
    ctx.stale_at_ms = at_ms
    return reply


def _read(change: Change, ctx: ExchangeContext) -> Reply:
    record: Operation | Project | None
    if ctx.spec.subject == "operation":
        record = change.get(OPERATIONS, ctx.record.id)
    else:
        record = change.get(PROJECTS, ctx.record.id)
    if record is None:
        raise not_found(ctx.spec.subject, "the resource did not exist yet")
    return READ_FUNCTIONS[ctx.spec.call_id](change, ctx, record)


def _state_at(engine: Engine, at_ms: int) -> tuple[World, int]:
    """Return the state of the world at a time, and the time of that state.

    If the history does not go back that far, this is the oldest state in it.
    """
    world = engine.history.world_at(at_ms)
    if world.at_ms >= at_ms:
        return world, world.at_ms
    change, _ = run_due(world, at_ms, run_timeline_entry)
    return apply(world, change.writes, commit=world.commit, at_ms=at_ms), at_ms


def _observe(
    engine: Engine,
    ctx: ExchangeContext,
    faults: Sequence[Fault],
    subject: FaultSubject,
    acted: tuple[Fault, ...],
) -> None:
    """Record that the `stale_read` faults were considered for this read."""
    effect = _kind_of(acted[-1]) if acted else None
    engine.usage.observe_faults(
        faults,
        engine.world,
        subject,
        Decision(effect=effect, acted=acted),
        ctx.at_ms,
        ctx.n,
        refused=False,
        reasons=dict(ctx.unaltered),
    )


def _note(ctx: ExchangeContext, fault: Fault) -> None:
    """Record which fault made the response stale, and which state the response shows."""
    assert ctx.stale_at_ms is not None
    ctx.acted += (fault,)
    ctx.stale_age_ms = _kind_of(fault).age_ms
    ctx.why += (
        f"{fault.id} ({fault.kind}) acted, hit {fault.hits}: the response shows the state as of "
        f"{format_timestamp(ctx.stale_at_ms)}",
    )
