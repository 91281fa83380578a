"""Refuses an outcome that could never act.

For example, the operations may not have the phase that the outcome names, or their lifecycle may
not allow the final state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.faults.outcomes import OutcomeKind, phases_of
from hosting_emulator.world import lifecycles
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.fault_records import Rule
from hosting_emulator.world.operations import profile_for
from hosting_emulator.world.partial_effects import (
    effects_text,
    find_impossible_effect,
    visible_places,
)
from hosting_emulator.world.plans import (
    Step,
    find_early_effect,
    phases_that_may_become,
    plan_for,
    profile_times,
)
from hosting_emulator.world.records import OperationOutcome

_CLAIM_HELD = (
    "the outcome could never act: while an operation is in progress, the project's claim is "
    "never free"
)


def check_outcome(
    outcome: OutcomeKind, rule: Rule, calls: Sequence[str], assumptions: Assumptions
) -> None:
    """Raise DocumentRefused if an outcome cannot act on any operation that these calls start."""
    if outcome.reacts and rule.while_ is not None:
        _check_condition(rule.while_)
    applicable: dict[str, OperationOutcome] = {}
    for call in calls:
        operation_outcome = outcome.operation_outcome("", call, rule.while_)
        if operation_outcome is not None:
            applicable[call] = operation_outcome
    if not applicable:
        raise DocumentRefused(_no_phase(outcome, calls), f"{outcome.name}.phase")
    obstacles = []
    for call, operation_outcome in applicable.items():
        _check_transition(operation_outcome, call)
        obstacle = find_obstacle(operation_outcome, call, assumptions)
        if obstacle is not None:
            obstacles.append(obstacle)
    if len(obstacles) == len(applicable):
        option = obstacles[0].option
        reasons = "; ".join(dict.fromkeys(obstacle.reason for obstacle in obstacles))
        message = f"{outcome.name} {option}: the outcome could never act: {reasons}"
        raise DocumentRefused(message, f"{outcome.name}.{option}")


def _no_phase(outcome: OutcomeKind, calls: Sequence[str]) -> str:
    phases = ", ".join(phases_of(calls[0]))
    return f"operations of {calls[0]} have no phase {outcome.at!r}; they have {phases}"


def _check_condition(condition: Condition) -> None:
    """Raise DocumentRefused if a condition cannot hold while an operation is in progress."""
    is_free = condition.claim == "free"
    excluded = condition.not_
    if is_free or (excluded is not None and excluded.claim == "held"):
        raise DocumentRefused(_CLAIM_HELD, "while.claim" if is_free else "while.not")


def _check_transition(outcome: OperationOutcome, call: str) -> None:
    """Raise DocumentRefused if an outcome with a condition cannot take its first step in its phase."""
    if outcome.while_ is None or not outcome.phase:
        return
    phases = phases_that_may_become(plan_for(call), outcome.steps[0])
    if outcome.phase in phases:
        return
    state = _step_in(call, outcome.phase).state
    following = " or ".join(sorted(lifecycles.OPERATION.transitions[state]))
    raise DocumentRefused(
        f"{outcome.kind}: phase={outcome.phase} is impossible with `while`, because a {state} "
        f"operation can only become {following}; use phase={' or '.join(phases)}, or leave out "
        "`phase`",
        f"{outcome.kind}.phase",
    )


def _step_in(call: str, phase: str) -> Step:
    """Return the step with this phase from the plan of a call's operations. The step must exist."""
    return next(step for step in plan_for(call) if step.phase == phase)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an outcome cannot act on the operations that a call starts, and which option must change."""

    option: str
    reason: str


def find_obstacle(
    outcome: OperationOutcome, call: str, assumptions: Assumptions
) -> Obstacle | None:
    """Return the obstacle that prevents an outcome from acting on the operations that a call starts.

    Return None if there is no obstacle.
    """
    reason = _unheld_reason(outcome, call, assumptions)
    if reason is not None:
        return Obstacle("for", reason)
    effects = outcome.leaves
    if effects is None:
        return None
    reason = find_impossible_effect(call, effects)
    if reason is None and outcome.phase:
        reason = find_early_effect(_step_in(call, outcome.phase), effects)
    return None if reason is None else Obstacle("leaves", reason)


def _unheld_reason(outcome: OperationOutcome, call: str, assumptions: Assumptions) -> str | None:
    """Return why an outcome cannot hold a call's operations for `hold_ms`.

    Return None if it can, or if it has no `hold_ms`.
    """
    if outcome.hold_ms is None:
        return None
    profile = profile_for(call, assumptions)
    mode, queued_ms, running_ms = profile_times(profile, outcome)
    if mode not in ("timed", "immediate"):
        mover = "polls" if mode == "per_poll" else "interventions"
        return (
            f"operations of {call} have the profile {profile!r}, under which only {mover} advance "
            "an operation; leave out `for`, and release the operation with release_operation"
        )
    phase = _step_in(call, outcome.phase)
    phase_ms = queued_ms if phase.state == "queued" else round(running_ms * phase.share)
    if outcome.hold_ms <= phase_ms:
        return (
            f"operations of {call} stay {outcome.phase} for {format_duration(phase_ms)} anyway; "
            "give a longer time"
        )
    return None


def possible_operations(
    outcome: OutcomeKind, rule: Rule, calls: Sequence[str], assumptions: Assumptions
) -> list[str]:
    """Return the calls that start operations on which an outcome can act."""
    if rule.call is not None:
        return [rule.call]
    return [call for call in calls if _exclusion(outcome, rule, call, assumptions) is None]


def outcome_note(
    outcome: OutcomeKind, rule: Rule, calls: Sequence[str], assumptions: Assumptions
) -> str | None:
    """Return a note to show when a user arms an outcome, or None if no note is needed.

    If the outcome can act on the operations of some calls only, the note names those calls. The
    note also says where a client sees the effects that an operation leaves behind.
    """
    notes = []
    if rule.call is None:
        excluded = {call: _exclusion(outcome, rule, call, assumptions) for call in calls}
        possible_calls = [call for call in calls if excluded[call] is None]
        reasons = [reason for reason in excluded.values() if reason is not None]
        if reasons:
            notes.append(
                f"The outcome waits for an operation started by {' or '.join(possible_calls)}: "
                f"{reasons[0]}."
            )
    if outcome.left_behind is not None:
        left = effects_text(outcome.left_behind, are_planned=True)
        notes.append(f"The operation leaves {left}: {visible_places(outcome.left_behind)}.")
    return " ".join(notes) or None


def _exclusion(outcome: OutcomeKind, rule: Rule, call: str, assumptions: Assumptions) -> str | None:
    """Return why an outcome cannot act on the operations that a call starts, or None if it can."""
    operation_outcome = outcome.operation_outcome("", call, rule.while_)
    if operation_outcome is None:
        return f"operations of {call} have no phase {outcome.at}"
    obstacle = find_obstacle(operation_outcome, call, assumptions)
    return None if obstacle is None else obstacle.reason
