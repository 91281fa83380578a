"""Why: where an operation stands, what it waits for, and what would move it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hosting_emulator.contract.calls import GET_OPERATION
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.live_world import LiveWorld
from hosting_emulator.faults.decisions import faults_in_order, spent
from hosting_emulator.faults.outcomes import outcome_text
from hosting_emulator.world import lifecycles
from hosting_emulator.world.operations import (
    HELD,
    finished,
    next_turn,
    plan_of,
    profile_of,
    stands,
)
from hosting_emulator.world.records import Operation, Project
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change, World
from hosting_emulator.world.views import STATE_WORDS

_OF_CLOCK = {
    "real": "The clock is real: wait for it.",
    "scaled": "The clock is scaled: wait for it, at the clock's rate.",
    "frozen": "The clock is frozen: move it.",
    "skip": "The clock skips: the next poll of the operation moves time there.",
}


@dataclass(slots=True)
class _Reason:
    """Why an operation stands where it does, in sentences, and what would move it, as commands."""

    says: list[str]
    commands: list[str] = field(default_factory=list)
    held_by: str | None = None
    waits_for: str | None = None
    #: When (ms) something happens to it by itself, and what.
    next: tuple[int, str] | None = None


def why(live: LiveWorld, operation_id: str) -> dict[str, Any] | None:
    """Return the explanation of an operation as a document; None when there is no such operation.

    Its commands are words of our command line, without what says which emulator and world is meant.
    """
    now_ms, world = live.run_due(), live.world
    operation = world.get(OPERATIONS, operation_id)
    if operation is None:
        return None
    project = world.get(PROJECTS, operation.project_id)
    assert project is not None
    if finished(operation):
        ended = STATE_WORDS[operation.state].ended
        reason = _Reason([f"It {ended} at {operation.updated_at}; that is final."])
        if operation.outcome is not None:
            reason.says.append(f"{operation.outcome.id} had set this in advance.")
        if (error := operation.error) is not None:
            told, again = f"Its error is {error.code}: {error.message}", error.retryable
            reason.says.append(f"{told} It is {'retryable' if again else 'not retryable'}.")
    else:
        reason = _reason(live, operation, project, now_ms)
    seen = operation.reconciliation
    return {
        "operation": operation.id,
        "kind": operation.kind,
        "project": project.alias,
        "state": operation.state,
        "finished": finished(operation),
        "phase": operation.phase,
        "reconciliation": None if seen is None else seen.state,
        "at": format_timestamp(now_ms),
        "says": reason.says,
        "next": reason.next and {"at": format_timestamp(reason.next[0]), "what": reason.next[1]},
        "waits_for": reason.waits_for,
        "held_by": reason.held_by,
        "commands": reason.commands,
    }


def _reason(live: LiveWorld, operation: Operation, project: Project, now_ms: int) -> _Reason:
    """Explain an unfinished operation, and which faults may show a client something else."""
    world = live.world
    if operation.stuck:
        reason = _stuck(operation)
    elif operation.kind == HELD:
        says = (
            "No call started it: the intervention hold_claim created it, and it "
            f"holds the mutation claim of {project.alias} until you release it."
        )
        command = f"intervene release_claim project={project.alias}"
        reason = _Reason([says], [command], held_by="the intervention hold_claim")
    elif project.claim != operation.id:
        reason = _waiting(live, operation, project, now_ms)
    elif operation.event is not None:
        reason = _timed(live, operation, now_ms)
    else:
        reason = _untimed(world, operation, now_ms)
    if operation.outcome is not None and (told := outcome_text(operation.outcome)):
        reason.says.append(f"{operation.outcome.id} is set for it: {told}.")
    for fault in faults_in_order(world):
        polls = fault.rule.call == GET_OPERATION.call_id
        if polls and fault.rule.project in (None, project.id) and not spent(fault, now_ms):
            reason.says.append(
                f"{fault.id} ({fault.kind}) is armed for polls: a client may see something else."
            )
            reason.commands.append(f"fault remove {fault.id}")
    return reason


def _stuck(operation: Operation) -> _Reason:
    seen, told = operation.reconciliation, operation.outcome
    if seen is None or seen.state not in ("required", "running"):
        by = "the intervention stick_operation"
        if told is not None and "stuck" in told.turns[: told.done]:
            by = told.id
        says = (
            f"It is stuck while {operation.state}: {by} removed its next step from the "
            "schedule, so no clock moves it."
        )
        command = f"intervene release_operation operation={operation.id}"
        return _Reason([says], [command], held_by=by)
    says = (
        f"Its result is not known yet: its reconciliation is {seen.state} "
        f"(attempt {seen.attempt_id}), and no clock ends that."
    )
    names = ["run_reconciliation"] if seen.state == "required" else []
    names += ["complete_reconciliation", *["release_operation"] * seen.was_stuck]
    commands = [f"intervene {name} operation={operation.id}" for name in names]
    return _Reason([says], commands, held_by=f"a reconciliation that is {seen.state}")


def _waiting(live: LiveWorld, operation: Operation, project: Project, now_ms: int) -> _Reason:
    """Explain an operation that waits for the one that holds its project's claim."""
    world, claim = live.world, str(project.claim)
    place, key = 0, project.queue_head  # unfinished operations ahead, but for the claim's holder
    while key is not None and key != operation.id:
        waiting = world.get(OPERATIONS, key)
        assert waiting is not None
        place, key = place + (waiting.state == "queued"), waiting.next_waiting
    ahead = "" if place == 0 else f", with {place} more waiting ahead of it"
    holder = world.get(OPERATIONS, claim)
    assert holder is not None
    before = _reason(live, holder, project, now_ms)
    queued = (
        f"It is queued: operation {claim} holds the mutation claim of {project.alias}{ahead}. A "
        "project runs one operation at a time."
    )
    moved = any(command.startswith("clock") for command in before.commands)
    return _Reason(
        [queued, *(f"Blocking operation: {sentence}" for sentence in before.says)],
        [f"clock advance --until {operation.id}"] if moved else before.commands,
        held_by=before.held_by,
        waits_for=claim,
        next=before.next and (before.next[0], f"{before.next[1]} (the operation it waits for)"),
    )


def _timed(live: LiveWorld, operation: Operation, now_ms: int) -> _Reason:
    due_ms = live.due_of(operation.id)
    assert due_ms is not None
    following, now = plan_of(operation)[operation.step + 1], stands(operation)
    into = following.state if following.state != operation.state else following.phase
    if operation.outcome is not None and (turn := next_turn(operation)) is not None:
        into = operation.outcome.turns[turn]
        if into in lifecycles.RECONCILIATION.transitions:
            into = f"a reconciliation that is {into}"
    left = format_duration(max(0, due_ms - now_ms))
    return _Reason(
        [
            f"It is {now}, and becomes {into} at {format_timestamp(due_ms)}, "
            f"in {left} of world time.",
            _OF_CLOCK[live.world.clock.mode],
        ],
        [f"clock advance --until {operation.id}"],
        next=(due_ms, f"it changes from {now} to {into}"),
    )


def _untimed(world: World, operation: Operation, now_ms: int) -> _Reason:
    mode, per_state, _ = profile_of(Change(world, now_ms), operation)
    if mode == "per_poll":
        says = (
            f"It is {stands(operation)} and moves when it is polled: each state lasts {per_state} "
            f"polls, and it has had {operation.polls} in this one."
        )
        return _Reason([says])
    says = (
        f"It is {stands(operation)}, and its profile is {mode}: no clock moves it, only the "
        "intervention step_operation."
    )
    command = f"intervene step_operation operation={operation.id}"
    return _Reason([says], [command], held_by=f"its profile, {mode}")
