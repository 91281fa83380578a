"""Operation plans: how long each step lasts, and which step comes next.

This module only reads operations. The `operations` module changes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.world import lifecycles
from hosting_emulator.world.records import Operation, OperationOutcome, PartialEffects

INITIALIZE = "initialize_managed_source"
APPLY_DOMAINS = "apply_project_domains"
#: The kind of an operation that only holds a project's claim. Such an operation is started by an
#: intervention rather than by a call.
HELD = "held_by_intervention"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan. `share` is the step's fraction of the operation's running time."""

    state: str
    phase: str
    deployment: str
    share: float


DEPLOYING_PLAN = (
    Step("queued", "queued", "queued", 0),
    Step("running", "building", "building", 0.5),
    Step("running", "deploying", "deploying", 0.25),
    Step("running", "verifying", "deploying", 0.25),
    Step("succeeded", "done", "ready", 0),
)
PLAIN_PLAN = (
    Step("queued", "queued", "queued", 0),
    Step("running", "deploying", "queued", 0.5),
    Step("running", "verifying", "queued", 0.5),
    Step("succeeded", "done", "queued", 0),
)


def plan_for(kind: str) -> tuple[Step, ...]:
    """Return the plan for a new operation of the given kind."""
    if kind == INITIALIZE:
        # An operation of this kind creates a deployment.
        return DEPLOYING_PLAN
    return PLAIN_PLAN


def plan_of(operation: Operation) -> tuple[Step, ...]:
    """Return the plan that an operation follows."""
    if operation.deployment_id:
        return DEPLOYING_PLAN
    return PLAIN_PLAN


def profile_of(operation: Operation) -> tuple[str, int, int]:
    """Return the mode, the queued time and the running time under which an operation runs.

    Times set by the operation's outcome take precedence. An operation keeps the profile that was
    current when it was accepted. If it switched to a profile chosen later, it might wait for an
    event or a poll that never happens.
    """
    return profile_times(operation.profile, operation.outcome)


def profile_times(profile: str, outcome: OperationOutcome | None) -> tuple[str, int, int]:
    """Return the mode, queued time and running time of a profile, like `parse_profile`.

    Times set by the outcome take precedence, and change the mode to `timed`.
    """
    mode, queued_ms, running_ms = parse_profile(profile)
    if outcome is None or (outcome.queued_ms is None and outcome.running_ms is None):
        return mode, queued_ms, running_ms
    if mode != "timed":
        queued_ms = 0
        running_ms = 0
    if outcome.queued_ms is not None:
        queued_ms = outcome.queued_ms
    if outcome.running_ms is not None:
        running_ms = outcome.running_ms
    return "timed", queued_ms, running_ms


def is_finished(operation: Operation) -> bool:
    """Return whether an operation is in a terminal state."""
    return operation.state in lifecycles.OPERATION.finals


def describe_state(operation: Operation) -> str:
    """Return the name of an operation's state, with the phase if the operation is running."""
    if operation.state == "running":
        return f"{operation.state} ({operation.phase})"
    return operation.state


def outcome_phases(operation: Operation) -> tuple[str, ...]:
    """Return the phases of an operation in which its outcome can act."""
    outcome = operation.outcome
    if outcome is None or not outcome.steps:
        return ()
    plan = plan_of(operation)
    phases = phases_that_may_become(plan, outcome.steps[0])
    if outcome.leaves is not None:
        phases = tuple(phase for phase in phases if leaves_in(plan, phase, outcome.leaves))
    return tuple(phase for phase in phases if outcome.phase in ("", phase))


def leaves_in(plan: Sequence[Step], phase: str, effects: PartialEffects) -> bool:
    """Return whether an operation that ends in this phase of the plan can leave `effects` behind."""
    step = next(step for step in plan if step.phase == phase)
    return find_early_effect(step, effects) is None


def find_early_effect(step: Step, effects: PartialEffects) -> str | None:
    """Return why an operation that ends at `step` cannot leave `effects` behind, or None if it can."""
    if step.state == "queued":
        return "a queued operation has not started its work, so it leaves nothing behind"
    if effects.deployment and not lifecycles.DEPLOYMENT.may(step.deployment, effects.deployment):
        following = " or ".join(sorted(lifecycles.DEPLOYMENT.transitions[step.deployment]))
        return f"a deployment that is {step.deployment} can only become {following}"
    return None


def phases_that_may_become(plan: Sequence[Step], outcome_step: str) -> tuple[str, ...]:
    """Return the phases of a plan at the end of which an outcome can take this step.

    A final state such as `failed` is possible only in a phase whose state can change to it. Every
    other step is possible in every phase except the last.
    """
    is_final = outcome_step in lifecycles.OPERATION.finals
    return tuple(
        step.phase
        for step in plan[:-1]
        if not is_final or lifecycles.OPERATION.may(step.state, outcome_step)
    )


def waits_for_condition(operation: Operation) -> bool:
    """Return whether an operation's outcome has a condition and has not yet acted."""
    outcome = operation.outcome
    return outcome is not None and outcome.while_ is not None and not outcome.steps_taken


def is_held(operation: Operation) -> bool:
    """Return whether an outcome is holding an operation in a phase and will release it later."""
    outcome = operation.outcome
    return (
        outcome is not None
        and operation.stuck
        and operation.stuck_by == outcome.id
        and outcome.steps[outcome.steps_taken :] == ("released",)
    )


def is_reconciling(operation: Operation) -> bool:
    """Return whether an operation has an unfinished reconciliation."""
    reconciliation = operation.reconciliation
    return reconciliation is not None and reconciliation.state in ("required", "running")


def reacts(operation: Operation) -> bool:
    """Return whether a change to the world can cause an operation's outcome to act or to end a hold."""
    outcome = operation.outcome
    if outcome is None or outcome.while_ is None or is_finished(operation):
        return False
    return waits_for_condition(operation) or is_held(operation)


def outcome_will_act(operation: Operation) -> bool:
    """Return whether an operation's outcome still has steps that can be taken."""
    outcome = operation.outcome
    if outcome is None or is_finished(operation):
        return False
    if waits_for_condition(operation):
        remaining_phases = [step.phase for step in plan_of(operation)[operation.step :]]
        return any(phase in remaining_phases for phase in outcome_phases(operation))
    if outcome.phase == operation.phase:
        return next_outcome_step(operation) is not None
    later_phases = [step.phase for step in plan_of(operation)[operation.step + 1 :]]
    return outcome.steps_taken < len(outcome.steps) and outcome.phase in later_phases


def next_outcome_step(operation: Operation) -> int | None:
    """Return the index of the next step of an operation's outcome.

    Return None if the operation's next step is part of its plan, or if the outcome is waiting for
    its condition.
    """
    outcome = operation.outcome
    if outcome is None or outcome.phase != operation.phase or waits_for_condition(operation):
        return None
    state = "none" if operation.reconciliation is None else operation.reconciliation.state
    lifecycle = lifecycles.RECONCILIATION
    for index in range(outcome.steps_taken, len(outcome.steps)):
        step = outcome.steps[index]
        # Skip a reconciliation state if an intervention has already moved the reconciliation past
        # it.
        if step not in lifecycle.transitions or lifecycle.may(state, step):
            return index
    return None
