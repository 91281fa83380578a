"""Refuses an outcome that could never act: no operation has its phase, or our lifecycles exclude it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.faults.outcomes import OutcomeKind, phases_of
from hosting_emulator.world import lifecycles
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.fault_records import Rule
from hosting_emulator.world.operations import profile_for
from hosting_emulator.world.plans import phases_that_may_become, plan_for, profile_times
from hosting_emulator.world.records import OperationOutcome

_CLAIM_HELD = (
    "it could never act: an operation that has not ended holds its project's claim, or waits while "
    "another one holds it, so claim is never free"
)


def check_outcome(
    outcome: OutcomeKind, rule: Rule, calls: Sequence[str], assumptions: Assumptions
) -> None:
    """Refuse an outcome that can act on no operation of these calls. Raises DocumentRefused."""
    if outcome.reacts and rule.while_ is not None:
        _check_condition(rule.while_)
    applicable: dict[str, OperationOutcome] = {}
    for call in calls:
        operation_outcome = outcome.operation_outcome("", call, rule.while_)
        if operation_outcome is not None:
            applicable[call] = operation_outcome
    if not applicable:
        raise DocumentRefused(_no_phase(outcome, calls), "phase")
    for call, operation_outcome in applicable.items():
        _check_transition(operation_outcome, call)
    reasons = [unheld_reason(applied, call, assumptions) for call, applied in applicable.items()]
    if all(reasons):
        raise DocumentRefused(f"stick for: it could never act: {reasons[0]}", "stick.for")


def _no_phase(outcome: OutcomeKind, calls: Sequence[str]) -> str:
    phases = ", ".join(phases_of(calls[0]))
    return f"operations of {calls[0]} have no phase {outcome.at!r}; they have {phases}"


def _check_condition(condition: Condition) -> None:
    """Refuse a condition that holds for no operation in progress."""
    is_free = condition.claim == "free"
    excluded = condition.not_
    if is_free or (excluded is not None and excluded.claim == "held"):
        raise DocumentRefused(_CLAIM_HELD, "while.claim" if is_free else "while.not")


def _check_transition(outcome: OperationOutcome, call: str) -> None:
    """Refuse an outcome under a condition whose phase excludes its first step."""
    if outcome.while_ is None or not outcome.phase:
        return
    phases = phases_that_may_become(plan_for(call), outcome.steps[0])
    if outcome.phase in phases:
        return
    state = next(step.state for step in plan_for(call) if step.phase == outcome.phase)
    following = " or ".join(sorted(lifecycles.OPERATION.transitions[state]))
    raise DocumentRefused(
        f"{outcome.kind} phase={outcome.phase}: an operation that is {state} only becomes "
        f"{following}; with while write phase={' or '.join(phases)}, or no phase",
        f"{outcome.kind}.phase",
    )


def unheld_reason(outcome: OperationOutcome, call: str, assumptions: Assumptions) -> str | None:
    """Say why operations of a call cannot be held for a time. None: they can, or no time is set."""
    if outcome.hold_ms is None:
        return None
    profile = profile_for(call, assumptions)
    mode, queued_ms, running_ms = profile_times(profile, outcome)
    if mode not in ("timed", "immediate"):
        mover = "when they are polled" if mode == "per_poll" else "by an intervention"
        return (
            f"operations of {call} have the profile {profile!r}, so they move only {mover} and not "
            "with time; leave out for, and release them with release_operation"
        )
    phase = next(step for step in plan_for(call) if step.phase == outcome.phase)
    phase_ms = queued_ms if phase.state == "queued" else round(running_ms * phase.share)
    if outcome.hold_ms <= phase_ms:
        return (
            f"operations of {call} are {outcome.phase} for {format_duration(phase_ms)} anyway; "
            "give a longer time"
        )
    return None


def missing_phase_note(outcome: OutcomeKind, rule: Rule, calls: Sequence[str]) -> str | None:
    """Say on which operations an outcome cannot act, because they lack its phase. None: on all it can."""
    if rule.call is not None or not outcome.at:
        return None
    without = [call for call in calls if outcome.at not in phases_of(call)]
    if not without:
        return None
    others: list[Any] = [call for call in calls if call not in without]
    return (
        f"It waits for an operation of {' or '.join(others)}: those of {' or '.join(without)} have "
        f"no phase {outcome.at}."
    )
