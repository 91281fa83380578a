"""Operations, the project mutation claim and the schedule: how all that takes time goes on.

An operation follows a plan of steps. Under a `timed` or `immediate` profile the schedule takes it
from step to step; `per_poll` counts polls; `manual` waits to be told. One operation of a project
holds the claim and moves; the others wait in the order they came. Running what is due is the only
way time changes a world: each event happens at its own moment, however late it is noticed, so what a
client sees does not depend on how often anybody looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import lifecycles
from hosting_emulator.world.naming import hostnames
from hosting_emulator.world.records import (
    Deployment,
    Ending,
    EventKind,
    Operation,
    OperationFailure,
    OperationOutcome,
    Project,
    Reconciliation,
    ScheduledEvent,
)
from hosting_emulator.world.streams import draw, new_deployment_id, new_id, next_number
from hosting_emulator.world.tables import DEPLOYMENTS, DNS, OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change, World

INITIALIZE = "initialize_managed_source"
APPLY_DOMAINS = "apply_project_domains"
#: Not a call: an operation that an intervention made to hold a project's claim.
HELD = "held_by_intervention"

#: Carries out an event of the timeline, which only higher floors know how to do.
Planner = Callable[[Change, str], None]


BUILD_FAILED = OperationFailure(
    code="operation_failed",
    message="The build exited with status 1.",
    retryable=True,
    suggested_action="Read the deployment logs, fix the build and deploy again.",
)
EXHAUSTED = OperationFailure(
    code="reconciliation_exhausted",
    message="Reconciliation could not determine the result within its attempts.",
    retryable=False,
    suggested_action=(
        "Check the project's state, then start a new operation with a new Idempotency-Key."
    ),
)
#: What a client is told to do in each state of a reconciliation.
_RECONCILING = {
    "required": "Keep polling the same operation; do not start another.",
    "running": "Keep polling the same operation.",
    "completed": "Keep polling: this does not yet mean success.",
    "exhausted": "Read the operation's error.",
}


class Step(NamedTuple):
    """A stage of a plan; `share` is the part of the running time spent in it."""

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


def plan_of(operation: Operation) -> tuple[Step, ...]:
    """Return the plan an operation follows."""
    return DEPLOYING_PLAN if operation.deployment_id else PLAIN_PLAN


def _profile_for(kind: str, assumptions: Assumptions) -> str:
    """Return the profile of a new operation."""
    if kind == INITIALIZE:
        return assumptions.source_profile
    if kind == APPLY_DOMAINS:
        return assumptions.domains_profile
    return "manual"


def profile_of(operation: Operation) -> tuple[str, int, int]:
    """Return the profile of an operation, as `parse_profile` reads it, or as its outcome times it.

    It is the profile under which the operation was accepted: another one may lack the event or the
    poll that it waits for.
    """
    profile = parse_profile(operation.profile)
    told = operation.outcome
    if told is None or told.queued_ms is told.running_ms is None:
        return profile
    queued_ms, running_ms = profile[1:] if profile[0] == "timed" else (0, 0)
    if told.queued_ms is not None:
        queued_ms = told.queued_ms
    return "timed", queued_ms, running_ms if told.running_ms is None else told.running_ms


def finished(operation: Operation) -> bool:
    """Tell whether an operation is in a terminal state."""
    return operation.state in lifecycles.OPERATION.finals


def stands(operation: Operation) -> str:
    """Say where an operation stands: its state, and the phase of one that is running."""
    running = operation.state == "running"
    return f"{operation.state} ({operation.phase})" if running else operation.state


def event_of(change: Change, operation: Operation) -> ScheduledEvent | None:
    """Return an operation's next event, or that of the one whose end it waits for, if there is one."""
    key = operation.event
    if key is None:
        claim = change.row(PROJECTS, operation.project_id).claim
        holder = change.get(OPERATIONS, claim) if claim else None
        key = holder.event if holder else None
    return change.get(SCHEDULE, key) if key else None


def begin(
    change: Change,
    project: Project,
    kind: str,
    *,
    expected_generation: int | None = None,
    outcome: OperationOutcome | None = None,
) -> Operation:
    """Accept an operation: it takes the project's claim, or waits behind the one that holds it."""
    now = format_timestamp(change.now_ms)
    operation = Operation(
        id=new_id(change),
        kind=kind,
        project_id=project.id,
        created_at=now,
        updated_at=now,
        created_ms=change.now_ms,
        profile=_profile_for(kind, change.assumptions),
        expected_generation=expected_generation,
        outcome=outcome,
    )
    if kind == INITIALIZE:  # call 2's response shows a deployment_id (contract, Operation)
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


def put_deployment(
    change: Change, project: Project, operation: Operation, digests: bytes, status: str = "queued"
) -> None:
    """Write the deployment of an operation. Its digests are made of 64 bytes."""
    text, ready = digests.hex(), status == "ready"
    deployment = Deployment(
        id=str(operation.deployment_id),
        project_id=project.id,
        operation_id=operation.id,
        commit_sha=text[:40],
        source_digest="sha256:" + text[:64],
        build_plan_digest="sha256:" + text[64:],
        status=status,
        created_at=operation.created_at,
        updated_at=operation.updated_at,
        artifact_digest="sha256:" + text[32:96] if ready else None,
        url=_production_url(change, project) if ready else None,
    )
    change.put(DEPLOYMENTS, deployment.id, deployment)


def _production_url(change: Change, project: Project) -> str:
    return "https://" + hostnames(change.world.name, change.assumptions, project).production


def schedule_next(change: Change, operation: Operation, left_ms: int | None = None) -> Operation:
    """Put an operation's next step on the schedule, if its profile is driven by time.

    `left_ms` is how long it is to that, where a part of the present one is over already.
    """
    mode, queued_ms, running_ms = profile_of(operation)
    if operation.stuck or operation.kind == HELD or mode not in ("timed", "immediate"):
        return operation
    told = operation.outcome
    if left_ms is None and told is not None and told.done and told.phase == operation.phase:
        left_ms = told.turn_ms
    if left_ms is not None:
        due_ms = change.now_ms + left_ms
    elif operation.step == 0:
        due_ms = max(change.now_ms, operation.created_ms + queued_ms)
    else:
        due_ms = change.now_ms + round(running_ms * plan_of(operation)[operation.step].share)
    key = schedule_event(change, due_ms, "operation_step", operation.id)
    return _put(change, operation, event=key)


def _put(change: Change, operation: Operation, **changes: Any) -> Operation:
    operation = replace(operation, **changes)
    change.put(OPERATIONS, operation.id, operation)
    return operation


def step(change: Change, operation_id: str, intervention: str = "") -> Operation:
    """Move an operation to the next step of its plan, or of its outcome, now. It must hold the claim.

    `intervention` is the name of the intervention that takes the step, if one does.
    """
    operation = _unscheduled(change, change.row(OPERATIONS, operation_id))
    if operation.step == 0 and (failure := stale_generation(change, operation)):
        return fail(change, operation, failure, Ending("generation"))
    place, told = next_turn(operation), operation.outcome
    if place is None or told is None:
        following = plan_of(operation)[operation.step + 1]
        if following.state == "succeeded":
            return finish(change, operation, "succeeded", Ending("plan", intervention))
        return schedule_next(change, _enter(change, operation, following))
    turn = told.turns[place]
    operation = _put(change, operation, outcome=replace(told, done=place + 1))
    ending = Ending("outcome", told.id)
    if turn == "cancelled":
        return finish(change, operation, turn, ending)
    if turn == "stuck":
        return _put(change, operation, stuck=True, stuck_by=told.id, left_ms=0)
    if turn != "failed":
        operation = reconcile(change, operation, turn)
    if turn in ("failed", "exhausted"):
        return fail(change, operation, told.failure or EXHAUSTED, ending)
    return schedule_next(change, operation)


def outcome_will_act(operation: Operation) -> bool:
    """Return whether an operation's outcome has turns left that the operation can still take."""
    outcome = operation.outcome
    if outcome is None or finished(operation):
        return False
    if outcome.phase == operation.phase:
        return next_turn(operation) is not None
    later_phases = [following.phase for following in plan_of(operation)[operation.step + 1 :]]
    return bool(outcome.turns[outcome.done :]) and outcome.phase in later_phases


def next_turn(operation: Operation) -> int | None:
    """Return the place of the next turn of an operation's outcome; None: it takes its next step."""
    told = operation.outcome
    if told is None or told.phase != operation.phase:
        return None
    # One that somebody was quicker with by hand is passed over.
    seen = operation.reconciliation.state if operation.reconciliation else "none"
    lifecycle = lifecycles.RECONCILIATION
    for place, turn in enumerate(told.turns[told.done :], told.done):
        if turn not in lifecycle.transitions or lifecycle.may(seen, turn):
            return place
    return None


def _unscheduled(change: Change, operation: Operation) -> Operation:
    if operation.event is not None:
        change.delete(SCHEDULE, operation.event)
    return replace(operation, event=None)


def _enter(change: Change, operation: Operation, entered: Step, **more: Any) -> Operation:
    now = format_timestamp(change.now_ms)
    if entered.state != operation.state:
        lifecycles.OPERATION.move(operation.state, entered.state)
    if entered.phase == "deploying" and operation.deployment_id is not None:
        more["build_completed_at"] = now
    _move_deployment(change, operation, entered.deployment)
    state, phase, step = entered.state, entered.phase, operation.step + 1
    return _put(change, operation, state=state, phase=phase, step=step, updated_at=now, **more)


def _move_deployment(change: Change, operation: Operation, status: str) -> None:
    if operation.deployment_id is None:
        return
    deployment = change.row(DEPLOYMENTS, operation.deployment_id)
    if deployment.status == status:
        return
    lifecycles.DEPLOYMENT.move(deployment.status, status)
    extra: dict[str, Any] = {}
    if status in ("deploying", "ready") and deployment.artifact_digest is None:
        extra["artifact_digest"] = "sha256:" + draw(change, "digests", 32).hex()
    if status == "ready":
        extra["url"] = _production_url(change, change.row(PROJECTS, operation.project_id))
    moved = replace(deployment, status=status, updated_at=format_timestamp(change.now_ms), **extra)
    change.put(DEPLOYMENTS, moved.id, moved)


def stale_generation(change: Change, operation: Operation) -> OperationFailure | None:
    """Return the failure of an operation whose expected source generation is no longer current.

    Two initializations may be accepted for one generation; only the first may carry it out.
    """
    if operation.expected_generation is None or change.assumptions.source_generation == "ignored":
        return None
    generation = change.row(PROJECTS, operation.project_id).source_generation
    if generation == operation.expected_generation:
        return None
    return OperationFailure(
        code=change.assumptions.code_of("generation_stale"),
        message=(
            f"The source generation became {generation} while this operation was queued; "
            f"it expected {operation.expected_generation}."
        ),
        retryable=False,
        suggested_action=f"Decide again, and start a new initialization with {generation}.",
    )


def finish(
    change: Change,
    operation: Operation,
    state: str,
    ending: Ending,
    *,
    failure: OperationFailure | None = None,
) -> Operation:
    """End an operation (succeeded, failed or cancelled) and pass the claim on.

    `ending` is what decided this.

    One that waits in the queue stays in it, and is passed over when its turn comes.
    """
    lifecycles.OPERATION.move(operation.state, state)
    project = change.row(PROJECTS, operation.project_id)
    result: dict[str, Any] | None = None
    if state == "succeeded":
        result = {}
        if operation.kind == APPLY_DOMAINS:
            names = hostnames(change.world.name, change.assumptions, project)
            result = {"hostnames": names._asdict()}
        elif operation.kind == INITIALIZE:
            result = {"source_generation": project.source_generation + 1}
            project = replace(project, **result)
    end = Step(state, "done", "ready" if state == "succeeded" else state, 0)
    ended = {
        "result": result,
        "error": failure,
        "stuck": False,
        "stuck_by": "",
        "left_ms": None,
        "ending": ending,
    }
    operation = _enter(change, _unscheduled(change, operation), end, **ended)
    if project.claim != operation.id:
        change.put(PROJECTS, project.id, project)
        return operation
    heir, head = None, project.queue_head
    while head is not None and heir is None:
        waiting = change.row(OPERATIONS, head)
        head = waiting.next_waiting
        if waiting.state == "queued":
            heir = _put(change, waiting, next_waiting=None)
    claim, tail = heir.id if heir else None, None if head is None else project.queue_tail
    project = replace(project, claim=claim, queue_head=head, queue_tail=tail)
    change.put(PROJECTS, project.id, project)
    if heir is not None:
        schedule_next(change, heir)
    return operation


def stick(change: Change, operation: Operation, intervention: str) -> Operation:
    """Stop an operation where it is: its next step leaves the schedule."""
    event = change.get(SCHEDULE, operation.event) if operation.event else None
    left_ms = None if event is None else max(0, event.due_ms - change.now_ms)
    operation = _unscheduled(change, operation)
    return _put(change, operation, stuck=True, stuck_by=intervention, left_ms=left_ms)


def release(change: Change, operation: Operation) -> Operation:
    """Let a stuck operation move again from where it was, if it holds the claim."""
    left_ms = operation.left_ms
    operation = _put(change, operation, stuck=False, stuck_by="", left_ms=None)
    holds = change.row(PROJECTS, operation.project_id).claim == operation.id
    if not holds or operation.event is not None:
        return operation
    return schedule_next(change, operation, left_ms)


def fail(
    change: Change, operation: Operation, failure: OperationFailure, ending: Ending
) -> Operation:
    """Fail an operation now; one that was still queued is taken to have just begun."""
    if operation.state == "queued":
        operation = _enter(change, operation, Step("running", "building", "building", 0))
    return finish(change, operation, "failed", ending, failure=failure)


def reconcile(change: Change, operation: Operation, state: str) -> Operation:
    """Move an operation's reconciliation. Raises ValueError when its lifecycle has no such move."""
    found = operation.reconciliation
    lifecycles.RECONCILIATION.move(found.state if found else "none", state)
    if found is None or state == "required":
        attempt, was_stuck = new_id(change), operation.stuck
    else:
        attempt, was_stuck = found.attempt_id, found.was_stuck
    observed = Reconciliation(state, attempt, _RECONCILING[state], was_stuck)
    return _put(change, operation, reconciliation=observed)


def hold_claim(change: Change, project: Project) -> Operation:
    """Make an operation that holds a free claim and never moves by itself."""
    return _enter(change, begin(change, project, HELD), Step("running", "deploying", "queued", 0))


def put_past_deployment(
    change: Change,
    project: Project,
    status: str,
    digests: bytes,
    ids: tuple[str, str],
    times: tuple[str, str],
) -> None:
    """Write a deployment that is simply there, and its operation: `ids`, and `times` made and updated."""
    ready = status == "ready"
    operation = Operation(
        id=ids[1],
        kind=INITIALIZE,
        project_id=project.id,
        created_at=times[0],
        updated_at=times[1],
        created_ms=change.now_ms,
        state="succeeded" if ready else status,
        phase="done",
        step=len(DEPLOYING_PLAN) - 1,
        deployment_id=ids[0],
        build_completed_at=times[1] if ready else None,
        result={"source_generation": project.source_generation} if ready else None,
        error=BUILD_FAILED if status == "failed" else None,
    )
    put_deployment(change, project, operation, digests, status)
    change.put(OPERATIONS, operation.id, operation)


def count_poll(change: Change, operation: Operation) -> Operation:
    """Count a poll of an unfinished operation; under `per_poll n` each state lasts n of them.

    The phases of a state share its n polls as they share its time under `timed`. Each turn of its
    outcome after the first lasts one poll.
    """
    mode, per_state, _ = profile_of(operation)
    if mode != "per_poll" or operation.stuck or operation.kind == HELD:
        return operation
    if change.row(PROJECTS, operation.project_id).claim != operation.id:
        return operation
    operation = _put(change, operation, polls=operation.polls + 1)
    state, states = operation.state, [step.state for step in plan_of(operation)]
    due = states.index(state) + operation.polls * states.count(state) // per_state
    told = operation.outcome
    if told is not None and told.done and next_turn(operation) is not None:
        due = operation.step + 1
    while operation.state == state and operation.step < due and operation.outcome == told:
        operation = step(change, operation.id)
    if operation.state != state and not finished(operation):
        operation = _put(change, operation, polls=0)
    return operation


def schedule_event(change: Change, due_ms: int, kind: EventKind, subject: str) -> str:
    """Put an event on the schedule, after all that are due at the same moment; returns its key."""
    sequence = next_number(change, "schedule")
    change.put(SCHEDULE, str(sequence), ScheduledEvent(due_ms, sequence, kind, subject))
    return str(sequence)


def run_due(world: World, now_ms: int, planner: Planner | None = None) -> tuple[Change, int]:
    """Return the change that everything due by `now_ms` makes, and the number of events."""
    change, count = Change(world, world.at_ms), 0
    while (key := change.next_due(now_ms)) is not None:
        event = change.row(SCHEDULE, key)
        change.delete(SCHEDULE, key)
        change.now_ms = max(change.now_ms, event.due_ms)
        if event.kind == "operation_step":
            step(change, event.subject)
        elif event.kind == "dns_expiry":
            _expire_dns(change, event)
        elif planner is not None:
            planner(change, event.subject)
        count += 1
    return change, count


def _expire_dns(change: Change, event: ScheduledEvent) -> None:
    dns = change.get(DNS, event.subject)
    # A renewed authorization has another expiry, and its own event.
    if dns is None or dns.expires_ms != event.due_ms:
        return
    if lifecycles.DNS_AUTHORIZATION.may(dns.status, "expired"):
        change.put(DNS, event.subject, replace(dns, status="expired"))
