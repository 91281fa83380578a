"""Advances operations from start to end, and passes each project's mutation claim from one
operation to the next.

An operation follows the steps of its plan. Under a `timed` or `immediate` profile, scheduled events
advance the operation. Under `per_poll`, each poll brings the operation closer to its next step.
Under `manual`, only an intervention advances it. At any time, only the operation that holds the
project's claim follows its plan. The project's other operations wait for the claim in the order in
which they were accepted.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from msgspec.structs import replace

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.world import lifecycles
from hosting_emulator.world.conditions import unmet_condition
from hosting_emulator.world.deployments import move_deployment, put_deployment
from hosting_emulator.world.fault_records import is_spent
from hosting_emulator.world.naming import hostnames
from hosting_emulator.world.partial_effects import leave_behind, leave_dns_behind
from hosting_emulator.world.plans import (
    APPLY_DOMAINS,
    HELD,
    INITIALIZE,
    Step,
    is_finished,
    is_held,
    next_outcome_step,
    plan_of,
    profile_of,
    waits_for_condition,
)
from hosting_emulator.world.records import (
    Ending,
    Operation,
    OperationFailure,
    OperationOutcome,
    Project,
    Reconciliation,
)
from hosting_emulator.world.schedule import schedule_event
from hosting_emulator.world.streams import draw, new_deployment_id, new_id
from hosting_emulator.world.tables import OPERATIONS, OUTCOMES, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change, World

EXHAUSTED = OperationFailure(
    code="reconciliation_exhausted",
    message="Every reconciliation attempt ended without a result.",
    retryable=False,
    suggested_action=(
        "Check the project's state, then start a new operation with a new Idempotency-Key."
    ),
)
#: The `suggested_action` for each state of a reconciliation.
_RECONCILIATION_ADVICE = {
    "required": "Keep polling the same operation; do not start another.",
    "running": "Keep polling the same operation.",
    "completed": "Keep polling: a completed reconciliation does not yet mean success.",
    "exhausted": "Read the operation's error.",
}


def begin(
    change: Change,
    project: Project,
    kind: str,
    *,
    expected_generation: int | None = None,
    outcome: OperationOutcome | None = None,
) -> Operation:
    """Accept a new operation of the given kind.

    The operation takes the project's claim if it is free, and otherwise waits for it.
    """
    now = format_timestamp(change.now_ms)
    operation = Operation(
        id=new_id(change),
        kind=kind,
        project_id=project.id,
        created_at=now,
        updated_at=now,
        created_ms=change.now_ms,
        profile=profile_for(kind, change.assumptions),
        expected_generation=expected_generation,
        outcome=outcome,
    )
    if kind == INITIALIZE:
        # The response to initialize_managed_source shows a deployment_id (contract, section Operation).
        digests = draw(change, "digests", 64)
        operation = replace(operation, deployment_id=new_deployment_id(change))
        put_deployment(change, project, operation, digests)
    change.put(OPERATIONS, operation.id, operation)
    if project.claim is None:
        change.put(PROJECTS, project.id, replace(project, claim=operation.id))
        return schedule_next(change, operation)
    if project.queue_tail is None:
        project = replace(project, queue_head=operation.id)
    else:
        _put(change, change.row(OPERATIONS, project.queue_tail), next_waiting=operation.id)
    change.put(PROJECTS, project.id, replace(project, queue_tail=operation.id))
    return operation


def profile_for(kind: str, assumptions: Assumptions) -> str:
    """Return the profile for a new operation of the given kind."""
    if kind == INITIALIZE:
        return assumptions.source_profile
    if kind == APPLY_DOMAINS:
        return assumptions.domains_profile
    return "manual"


def schedule_next(
    change: Change, operation: Operation, remaining_ms: int | None = None
) -> Operation:
    """Schedule the next step of an operation if its profile is time-based.

    `remaining_ms` is the time until the next step, in milliseconds of world time. If it is None,
    the profile or the outcome determines the time.
    """
    mode, queued_ms, running_ms = profile_of(operation)
    if operation.stuck or operation.kind == HELD or mode not in ("timed", "immediate"):
        return operation
    outcome = operation.outcome
    if (
        remaining_ms is None
        and outcome is not None
        and outcome.steps_taken
        and outcome.phase == operation.phase
    ):
        remaining_ms = outcome.step_ms
    if remaining_ms is not None:
        due_ms = change.now_ms + remaining_ms
    elif operation.step == 0:
        due_ms = max(change.now_ms, operation.created_ms + queued_ms)
    else:
        due_ms = change.now_ms + round(running_ms * plan_of(operation)[operation.step].share)
    key = schedule_event(change, due_ms, "operation_step", operation.id)
    return _put(change, operation, event=key)


def step(change: Change, operation_id: str, intervention: str = "") -> Operation:
    """Take the next step of an operation's plan or outcome now.

    The operation must hold the claim. `intervention` is the name of the intervention that caused
    the step, or an empty string if none did.
    """
    operation = _without_event(change, change.row(OPERATIONS, operation_id))
    if operation.step == 0:
        failure = stale_generation(change, operation)
        if failure is not None:
            return fail(change, operation, failure, Ending("generation"))
    outcome = operation.outcome
    index = next_outcome_step(operation)
    if outcome is not None and is_held_next(change, operation) and count_hit(change, outcome.id):
        index = 0
    if outcome is not None and index is not None:
        return _take_outcome_step(change, operation, outcome, index)
    plan_step = plan_of(operation)[operation.step + 1]
    if plan_step.state == "succeeded":
        return finish(change, operation, "succeeded", Ending("plan", intervention))
    return schedule_next(change, _enter(change, operation, plan_step))


def _take_outcome_step(
    change: Change, operation: Operation, outcome: OperationOutcome, index: int
) -> Operation:
    outcome_step = outcome.steps[index]
    operation = _put(change, operation, outcome=replace(outcome, steps_taken=index + 1))
    ending = Ending("outcome", outcome.id, outcome.leaves)
    if outcome_step == "cancelled":
        return finish(change, operation, "cancelled", ending)
    if outcome_step == "stuck":
        return _hold(change, operation, outcome)
    if outcome_step == "released":
        return _continue_held(change, operation)
    if outcome_step != "failed":
        operation = reconcile(change, operation, outcome_step)
    if outcome_step in ("failed", "exhausted"):
        return fail(change, operation, outcome.failure or EXHAUSTED, ending)
    return schedule_next(change, operation)


def begin_outcome(change: Change, operation: Operation) -> Operation:
    """Take the first step of an operation's outcome now, in the operation's current phase."""
    assert operation.outcome is not None
    outcome = replace(operation.outcome, phase=operation.phase)
    return _take_outcome_step(change, _without_event(change, operation), outcome, 0)


def end_hold(change: Change, operation: Operation) -> Operation:
    """Release an operation that its outcome is holding in a phase."""
    outcome = operation.outcome
    assert outcome is not None
    released = len(outcome.steps) - 1
    return _take_outcome_step(change, _without_event(change, operation), outcome, released)


def is_held_next(change: Change, operation: Operation) -> bool:
    """Return whether an operation's outcome will hold it at the end of its current phase, because
    the outcome's condition is met.
    """
    outcome = operation.outcome
    if outcome is None or not waits_for_condition(operation):
        return False
    if outcome.steps[0] != "stuck" or outcome.phase != operation.phase:
        return False
    armed = change.get(OUTCOMES, outcome.id)
    if armed is None or is_spent(armed, change.now_ms):
        return False
    return condition_holds(change.applied(), operation)


def condition_holds(world: World, operation: Operation) -> bool:
    """Return whether the condition of an operation's outcome is met. The outcome must have one."""
    assert operation.outcome is not None
    condition = operation.outcome.while_
    assert condition is not None
    return unmet_condition(condition, world, operation.project_id, None) is None


def count_hit(change: Change, outcome_id: str) -> bool:
    """Count a hit for an armed outcome and return True. Return False if the outcome can no longer
    act.
    """
    armed = change.get(OUTCOMES, outcome_id)
    if armed is None or is_spent(armed, change.now_ms):
        return False
    change.put(OUTCOMES, armed.id, replace(armed, hits=armed.hits + 1))
    return True


def _hold(change: Change, operation: Operation, outcome: OperationOutcome) -> Operation:
    """Stop an operation at the end of a phase. If the outcome has `hold_ms`, schedule the release."""
    event = None
    if outcome.hold_ms is not None:
        entered_ms = parse_timestamp(operation.updated_at)
        due_ms = max(change.now_ms, entered_ms + outcome.hold_ms)
        event = schedule_event(change, due_ms, "operation_step", operation.id)
    return _put(change, operation, stuck=True, stuck_by=outcome.id, remaining_ms=0, event=event)


def _continue_held(change: Change, operation: Operation) -> Operation:
    """Resume an operation that an outcome held. During a reconciliation, the operation stays stuck."""
    reconciliation = operation.reconciliation
    if reconciliation is not None and reconciliation.state in ("required", "running"):
        reconciliation = replace(reconciliation, was_stuck=False)
        return _put(
            change,
            operation,
            stuck_by="require_reconciliation",
            reconciliation=reconciliation,
        )
    operation = _put(change, operation, stuck=False, stuck_by="", remaining_ms=None)
    if profile_of(operation)[0] in ("timed", "immediate"):
        return step(change, operation.id)
    return operation


def stale_generation(change: Change, operation: Operation) -> OperationFailure | None:
    """Return the failure of an operation whose expected source generation is no longer current.

    Return None if the generation is current, or if the operation does not expect one.

    Several initializations can be accepted for the same generation, but only one can succeed.
    """
    if operation.expected_generation is None or change.assumptions.source_generation == "ignored":
        return None
    generation = change.row(PROJECTS, operation.project_id).source_generation
    if generation == operation.expected_generation:
        return None
    return OperationFailure(
        code=change.assumptions.code_of("generation_stale"),
        message=(
            f"While this operation was queued, the source generation changed to {generation}. The "
            f"operation expected {operation.expected_generation}."
        ),
        retryable=False,
        suggested_action=f"Start a new initialization that expects source generation {generation}.",
    )


def finish(
    change: Change,
    operation: Operation,
    state: str,
    ending: Ending,
    *,
    failure: OperationFailure | None = None,
) -> Operation:
    """End an operation as succeeded, failed or cancelled, and pass the claim on.

    `ending` says why the operation ended. An operation that ends while waiting for the claim stays
    in the queue. Such an operation is skipped when the claim becomes free.
    """
    lifecycles.OPERATION.move(operation.state, state)
    project = change.row(PROJECTS, operation.project_id)
    result: dict[str, Any] | None = None
    if state == "succeeded":
        result = _result(change, operation, project)
        if operation.kind == INITIALIZE:
            project = replace(project, **result)
    elif ending.leaves is not None:
        project, result = leave_behind(change, operation, project, ending.leaves)
        ending = leave_dns_behind(change, project, ending)
    deployment = _final_status(state, ending)
    operation = _enter(
        change,
        _without_event(change, operation),
        Step(state, "done", deployment, 0),
        result=result,
        error=failure,
        stuck=False,
        stuck_by="",
        remaining_ms=None,
        ending=ending,
    )
    if project.claim == operation.id:
        _pass_claim_on(change, project)
    else:
        change.put(PROJECTS, project.id, project)
    return operation


def _final_status(state: str, ending: Ending) -> str:
    """Return the final status of the deployment if its operation ends in `state`."""
    if state == "succeeded":
        return "ready"
    if ending.leaves is not None and ending.leaves.deployment is not None:
        return ending.leaves.deployment
    return state


def _result(change: Change, operation: Operation, project: Project) -> dict[str, Any]:
    """Return the result of a successful operation."""
    if operation.kind == APPLY_DOMAINS:
        return {"hostnames": asdict(hostnames(change.world.name, change.assumptions, project))}
    if operation.kind == INITIALIZE:
        return {"source_generation": project.source_generation + 1}
    return {}


def _pass_claim_on(change: Change, project: Project) -> None:
    """Give a project's claim to the first operation that is still waiting for it.

    If no operation is waiting, free the claim.
    """
    next_holder = None
    head = project.queue_head
    while head is not None and next_holder is None:
        waiting = change.row(OPERATIONS, head)
        head = waiting.next_waiting
        if waiting.state == "queued":
            next_holder = _put(change, waiting, next_waiting=None)
    claim = None if next_holder is None else next_holder.id
    tail = None if head is None else project.queue_tail
    project = replace(project, claim=claim, queue_head=head, queue_tail=tail)
    change.put(PROJECTS, project.id, project)
    if next_holder is not None:
        schedule_next(change, next_holder)


def stick(change: Change, operation: Operation, intervention: str) -> Operation:
    """Stop an operation at its current step, and remove the next step from the schedule."""
    remaining_ms = None
    if operation.event:
        event = change.get(SCHEDULE, operation.event)
        if event is not None:
            remaining_ms = max(0, event.due_ms - change.now_ms)
    operation = _without_event(change, operation)
    return _put(change, operation, stuck=True, stuck_by=intervention, remaining_ms=remaining_ms)


def release(change: Change, operation: Operation) -> Operation:
    """Release a stuck operation. If it holds the claim, it continues from where it stopped."""
    remaining_ms = operation.remaining_ms
    outcome = operation.outcome
    if outcome is not None and is_held(operation):
        outcome = replace(outcome, steps_taken=len(outcome.steps))
        operation = replace(_without_event(change, operation), outcome=outcome)
    operation = _put(change, operation, stuck=False, stuck_by="", remaining_ms=None)
    holds_claim = change.row(PROJECTS, operation.project_id).claim == operation.id
    if not holds_claim or operation.event is not None:
        return operation
    return schedule_next(change, operation, remaining_ms)


def fail(
    change: Change, operation: Operation, failure: OperationFailure, ending: Ending
) -> Operation:
    """Fail an operation now. If it is still queued, it first becomes running."""
    if operation.state == "queued":
        operation = _enter(change, operation, Step("running", "building", "building", 0))
    return finish(change, operation, "failed", ending, failure=failure)


def reconcile(change: Change, operation: Operation, state: str) -> Operation:
    """Set the state of an operation's reconciliation. Raises ValueError if the lifecycle forbids it."""
    previous = operation.reconciliation
    previous_state = "none" if previous is None else previous.state
    lifecycles.RECONCILIATION.move(previous_state, state)
    if previous is None or state == "required":
        attempt_id = new_id(change)
        was_stuck = operation.stuck
    else:
        attempt_id = previous.attempt_id
        was_stuck = previous.was_stuck
    reconciliation = Reconciliation(state, attempt_id, _RECONCILIATION_ADVICE[state], was_stuck)
    return _put(change, operation, reconciliation=reconciliation)


def hold_claim(change: Change, project: Project) -> Operation:
    """Start an operation that takes a project's free claim and never advances on its own."""
    return _enter(change, begin(change, project, HELD), Step("running", "deploying", "queued", 0))


def count_poll(change: Change, operation: Operation) -> Operation:
    """Count a poll of an unfinished operation. Under `per_poll n`, the operation spends n polls in
    each state.

    The n polls are divided among the state's phases in the same proportions as the time under
    `timed`. Each step of an outcome after the first lasts one poll.
    """
    mode, polls_per_state, _ = profile_of(operation)
    if mode != "per_poll" or operation.stuck or operation.kind == HELD:
        return operation
    if change.row(PROJECTS, operation.project_id).claim != operation.id:
        return operation
    operation = _put(change, operation, polls=operation.polls + 1)
    state = operation.state
    states = [plan_step.state for plan_step in plan_of(operation)]
    due_step = states.index(state) + operation.polls * states.count(state) // polls_per_state
    outcome = operation.outcome
    if outcome is not None and outcome.steps_taken and next_outcome_step(operation) is not None:
        due_step = operation.step + 1
    while operation.state == state and operation.step < due_step and operation.outcome == outcome:
        operation = step(change, operation.id)
    if operation.state != state and not is_finished(operation):
        operation = _put(change, operation, polls=0)
    return operation


def _put(change: Change, operation: Operation, **changes: Any) -> Operation:
    operation = replace(operation, **changes)
    change.put(OPERATIONS, operation.id, operation)
    return operation


def _without_event(change: Change, operation: Operation) -> Operation:
    """Remove an operation's next event from the schedule, and return the operation without an event."""
    if operation.event is not None:
        change.delete(SCHEDULE, operation.event)
    return replace(operation, event=None)


def _enter(change: Change, operation: Operation, entered: Step, **changes: Any) -> Operation:
    """Move an operation and its deployment to a step in the operation's plan."""
    now = format_timestamp(change.now_ms)
    if entered.state != operation.state:
        lifecycles.OPERATION.move(operation.state, entered.state)
    if entered.phase == "deploying" and operation.deployment_id is not None:
        changes["build_completed_at"] = now
    move_deployment(change, operation, entered.deployment)
    return _put(
        change,
        operation,
        state=entered.state,
        phase=entered.phase,
        step=operation.step + 1,
        updated_at=now,
        **changes,
    )
