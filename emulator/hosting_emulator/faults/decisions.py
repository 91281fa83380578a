"""Decides which armed faults act on a request, in the order in which they were armed.

A fault that matches the request counts it as seen, and acts if the other conditions in its rule
hold. Delays add up, and do not prevent later faults from acting. The first fault that acts with any
other effect ends the search in both commit phases, so the remaining faults do not count the
request. A fault with `after_commit` counts refused requests too, but does not act on them.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.faults.kinds import (
    RUNNING_CLOCKS,
    FaultKind,
    Stage,
    kind_of,
    needs_running_clock,
    stage_of,
)
from hosting_emulator.faults.kinds.latency import LONGEST_DELAY_MS
from hosting_emulator.faults.matching import FaultSubject, matches
from hosting_emulator.faults.outcome_checks import find_obstacle
from hosting_emulator.faults.outcomes import outcome_kinds, outcome_of
from hosting_emulator.world.conditions import condition_text, unmet_condition
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.records import OperationOutcome
from hosting_emulator.world.streams import draw
from hosting_emulator.world.tables import FAULTS, OUTCOMES, Table
from hosting_emulator.world.value import Change, World

_by_order = attrgetter("order")


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What the faults do to a request, taken together.

    `delay_ms` is a delay in real milliseconds. `effect` is the effect that is not a delay, or None
    if there is none. `problem` is the problem that this effect sends, or None. `acted` lists the
    faults that act, in order.
    """

    delay_ms: int = 0
    effect: FaultKind | None = None
    problem: Refused | None = None
    acted: tuple[Fault, ...] = ()


NO_EFFECT = Decision()


def faults_in_order(world: World, table: Table[Fault] = FAULTS) -> list[Fault]:
    """Return a world's faults or outcomes in the order in which they were armed."""
    return sorted(world.tables[table.name].values(), key=_by_order)


def decide(
    change: Change, subject: FaultSubject, stage: Stage, *, refused: bool = False
) -> Decision:
    """Count a request for the faults in one stage, and return what they do to it.

    If the request was `refused`, the faults do nothing.
    """
    delay_ms = 0
    acted: tuple[Fault, ...] = ()
    for fault in sorted(change.world.tables[FAULTS.name].values(), key=_by_order):
        if stage_of(fault) != stage or not matches(fault.rule, subject):
            continue
        if fault.skips_replays and subject.replayed:
            continue
        if stage == "upload" and not subject.has_body:
            continue
        fault = replace(fault, seen=fault.seen + 1)
        acts = not refused and is_chosen(change, fault, subject)
        if acts:
            effect = kind_of(fault)
            fault, acts = effect.count(fault, change.now_ms)
        fault = replace(fault, hits=fault.hits + acts)
        change.put(FAULTS, fault.id, fault)
        if not acts:
            continue
        acted = (*acted, fault)
        if not effect.delays:
            return Decision(delay_ms, effect, effect.problem(fault, change.now_ms), acted)
        delay_ms += effect.delay(partial(_chance, change))
        delay_ms += round(effect.wait_ms(fault, change.now_ms) / change.world.clock.rate)
        delay_ms = min(LONGEST_DELAY_MS, delay_ms)
    return Decision(delay_ms, acted=acted) if acted else NO_EFFECT


def next_outcome(change: Change, subject: FaultSubject) -> OperationOutcome | None:
    """Count an operation that a request is starting, and return the first outcome that applies to it.

    Return None if no armed outcome applies.
    """
    for armed in faults_in_order(change.world, OUTCOMES):
        if not matches(armed.rule, subject):
            continue
        outcome = applicable_outcome(change.world, armed, subject.call)
        if outcome is None:
            continue
        armed = replace(armed, seen=armed.seen + 1)
        applies = is_chosen(change, armed, subject)
        # An outcome with a condition counts its hit later, when it actually acts.
        acts = applies and outcome.while_ is None
        change.put(OUTCOMES, armed.id, replace(armed, hits=armed.hits + acts))
        if applies:
            return outcome
    return None


def applicable_outcome(world: World, armed: Fault, call: str) -> OperationOutcome | None:
    """Return the OperationOutcome that an armed outcome gives to an operation started by `call`.

    Return None if the outcome can never act on such an operation.
    """
    outcome = outcome_of(armed).operation_outcome(armed.id, call, armed.rule.while_)
    if outcome is None or find_obstacle(outcome, call, world.assumptions) is not None:
        return None
    return outcome


def _reacts_later(fault: Fault) -> bool:
    """Return whether an outcome's condition is evaluated while the operation is in progress, rather
    than when it starts.
    """
    return fault.kind in outcome_kinds() and outcome_of(fault).reacts


def is_chosen(change: Change, fault: Fault, subject: FaultSubject, stream: str = "faults") -> bool:
    """Return whether a fault or an outcome acts on a request that it has already counted as seen.

    If everything else in the rule is satisfied, its probability decides, with a number drawn from
    the world's random stream `stream`.
    """
    probability = fault.rule.probability
    idle = _idle_reason(fault, change.now_ms, change.world, subject.project, subject.organization)
    return idle is None and (probability >= 1 or _chance(change, stream) < probability)


def idle_reason(
    fault: Fault, now_ms: int, world: World, project_id: str | None, organization_id: str | None
) -> str:
    """Return why a fault that matched a request did not act on it."""
    reason = _idle_reason(fault, now_ms, world, project_id, organization_id)
    if reason is None and fault.rule.probability < 1:
        reason = (
            f"the draw with `probability` {fault.rule.probability:g} did not select the request"
        )
    return reason or "the request limit has not been reached"


def _idle_reason(
    fault: Fault, now_ms: int, world: World, project_id: str | None, organization_id: str | None
) -> str | None:
    rule = fault.rule
    if needs_running_clock(fault.kind) and world.clock.mode not in RUNNING_CLOCKS:
        return f"the clock is {world.clock.mode}, so world time would not advance while the request waits"
    if rule.from_ms is not None and now_ms < rule.from_ms:
        return f"`from` is {rule.from_}, which is in the future"
    if rule.until_ms is not None and now_ms >= rule.until_ms:
        return f"`until` is {rule.until}, which has passed"
    pause_end_ms = rule.pause_end_ms(now_ms) if rule.pauses else None
    if pause_end_ms is not None:
        return f"its rule is paused until {format_timestamp(pause_end_ms)}"
    if rule.while_ is not None and not _reacts_later(fault):
        reason = unmet_condition(rule.while_, world, project_id, organization_id)
        if reason is not None:
            return f"`while` ({condition_text(rule.while_)}) does not hold: {reason}"
    if rule.times is not None and fault.hits >= rule.times:
        if rule.times == 1:
            return "`times` allowed only 1 action"
        return f"`times` allowed only {rule.times} actions"
    number = fault.seen - rule.skip_first
    if number <= 0:
        return f"`skip_first` is {rule.skip_first}, and this was only matching request {fault.seen}"
    if number % rule.every:
        return f"`every` is {rule.every}, and this was matching request {number}"
    return None


def _chance(change: Change, stream: str = "faults") -> float:
    """Draw a number from [0, 1).

    Faults have a random stream of their own, so a draw does not affect later ids and secrets.
    """
    return int.from_bytes(draw(change, stream, 7), "big") / 2**56
