"""Why: where an operation stands, what it waits for, and what would move it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hosting_emulator.contract.calls import GET_OPERATION
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.live_world import LiveWorld
from hosting_emulator.faults.decisions import faults_in_order, spent
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.operations import HELD, finished, plan_of, profile_of
from hosting_emulator.world.records import Operation, Project
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change, World


@dataclass(slots=True)
class Explanation:
    """Why an operation stands where it does, in sentences, and what would move it, as commands."""

    says: list[str] = field(default_factory=list)
    next_at_ms: int | None = None
    next_what: str = ""
    waits_for: str | None = None
    held_by: str | None = None
    commands: list[str] = field(default_factory=list)


def why(live: LiveWorld, operation_id: str) -> dict[str, Any] | None:
    """Return the explanation of an operation as a document; None when there is no such operation."""
    now_ms = live.run_due()
    world = live.world
    operation = world.get(OPERATIONS, operation_id)
    if operation is None:
        return None
    project = world.get(PROJECTS, operation.project_id)
    assert project is not None
    found = Explanation()
    if finished(operation):
        _ended(found, operation)
    else:
        _Explainer(live, found, now_ms).explain(operation, project)
    next_at_ms, seen = found.next_at_ms, operation.reconciliation
    return {
        "operation": operation.id,
        "kind": operation.kind,
        "project": project.alias,
        "state": operation.state,
        "phase": operation.phase,
        "reconciliation": None if seen is None else seen.state,
        "at": format_timestamp(now_ms),
        "says": found.says,
        "next": None
        if next_at_ms is None
        else {"at": format_timestamp(next_at_ms), "what": found.next_what},
        "waits_for": found.waits_for,
        "held_by": found.held_by,
        "commands": [_command(world, command) for command in found.commands],
    }


def _command(world: World, command: str) -> str:
    where = "" if world.name == DEFAULT_WORLD else f" --world {world.name}"
    return f"hosting-emulator {command}{where}"


def _ended(found: Explanation, operation: Operation) -> None:
    found.says.append(f"It {_PAST[operation.state]} at {operation.updated_at}; that is final.")
    if operation.error is not None:
        error = operation.error
        again = "may" if error.retryable else "may not"
        found.says.append(
            f"Its error is {error.code}: {error.message} A client {again} try it again."
        )


_PAST = {"succeeded": "succeeded", "failed": "failed", "cancelled": "was cancelled"}


class _Explainer:
    """Explains one unfinished operation."""

    def __init__(self, live: LiveWorld, found: Explanation, now_ms: int) -> None:
        self._live = live
        self._found = found
        self._now_ms = now_ms
        self._world = live.world

    def explain(self, operation: Operation, project: Project) -> None:
        found = self._found
        if operation.stuck:
            self._stuck(operation)
        elif operation.kind == HELD:
            found.held_by = "the intervention hold_claim"
            found.says.append(
                f"It is no call's operation: the intervention hold_claim made it, and it keeps the "
                f"mutation claim of {project.alias} until it is told to let go."
            )
            found.commands.append(f"intervene release_claim project={project.alias}")
        elif project.claim != operation.id:
            self._waiting(operation, project)
        elif operation.event is not None:
            self._timed(operation)
        else:
            self._untimed(operation)
        self._polls_with_faults(operation)

    def _stuck(self, operation: Operation) -> None:
        found, seen = self._found, operation.reconciliation
        if seen is not None and seen.state in ("required", "running"):
            found.held_by = f"a reconciliation that is {seen.state}"
            found.says.append(
                f"Its outcome has to be found out: its reconciliation is {seen.state} (attempt "
                f"{seen.attempt_id}), and no clock ends that."
            )
            if seen.state == "required":
                found.commands.append(f"intervene run_reconciliation operation={operation.id}")
            found.commands.append(f"intervene complete_reconciliation operation={operation.id}")
            return
        found.held_by = "the intervention stick_operation"
        found.says.append(
            f"It is stuck while {operation.state}: an intervention took its next step off the "
            "schedule, and no clock moves it."
        )
        found.commands.append(f"intervene release_operation operation={operation.id}")

    def _waiting(self, operation: Operation, project: Project) -> None:
        found, place = self._found, _place(self._world, operation, project)
        found.waits_for = project.claim
        ahead = "" if place == 0 else f", with {place} more waiting ahead of it"
        found.says.append(
            f"It is queued: operation {project.claim} holds the mutation claim of {project.alias}"
            f"{ahead}. One operation of a project moves at a time."
        )
        holder = self._world.get(OPERATIONS, str(project.claim))
        assert holder is not None
        before = Explanation()
        _Explainer(self._live, before, self._now_ms).explain(holder, project)
        found.says += [f"Of that one: {sentence}" for sentence in before.says]
        found.held_by = before.held_by
        found.next_at_ms, found.next_what = before.next_at_ms, before.next_what
        if found.next_what:
            found.next_what = f"{found.next_what} (the operation it waits for)"
        moved = any(command.startswith("clock") for command in before.commands)
        found.commands += [f"clock advance --until {operation.id}"] if moved else before.commands

    def _timed(self, operation: Operation) -> None:
        found = self._found
        due_ms = self._live.due_of(operation.id)
        assert due_ms is not None
        following = plan_of(operation)[operation.step + 1]
        into = following.state if following.state != operation.state else following.phase
        found.next_at_ms = due_ms
        found.next_what = f"it goes from {_now(operation)} to {into}"
        found.says.append(
            f"It is {_now(operation)}, and goes on to {into} at {format_timestamp(due_ms)}, "
            f"{format_duration(max(0, due_ms - self._now_ms))} of world time from now."
        )
        found.says.append(_OF_CLOCK[self._world.clock.mode])
        found.commands.append(f"clock advance --until {operation.id}")

    def _untimed(self, operation: Operation) -> None:
        found = self._found
        change = Change(self._world, self._now_ms)
        mode, per_state, _ = profile_of(change, operation.kind)
        if mode == "per_poll":
            found.says.append(
                f"It is {_now(operation)} and moves as it is polled: each state lasts {per_state} "
                f"polls, and it has had {operation.polls} in this one."
            )
            return
        found.held_by = f"its profile, {mode}"
        found.says.append(
            f"It is {_now(operation)}, and its profile is {mode}: it takes its next step when it is "
            "told to, and by no clock."
        )
        found.commands.append(f"intervene step_operation operation={operation.id}")

    def _polls_with_faults(self, operation: Operation) -> None:
        for fault in faults_in_order(self._world):
            hit = fault.rule.call == GET_OPERATION.call_id and fault.rule.project in (
                None,
                operation.project_id,
            )
            if hit and not spent(fault, self._now_ms):
                self._found.says.append(
                    f"{fault.id} ({fault.kind}) is armed for polls: what a client sees may "
                    "not be this."
                )
                self._found.commands.append(f"fault remove {fault.id}")


_OF_CLOCK = {
    "real": "The clock is real: that comes by waiting.",
    "scaled": "The clock is scaled: that comes by waiting, at the clock's rate.",
    "frozen": "The clock is frozen: it comes when the clock is moved.",
    "skip": "The clock skips: the next poll of it moves time there.",
}


def _now(operation: Operation) -> str:
    return operation.state if operation.state == "queued" else f"running ({operation.phase})"


def _place(world: World, operation: Operation, project: Project) -> int:
    """Return how many unfinished operations wait ahead of this one, not counting the claim's holder."""
    ahead, key = 0, project.queue_head
    while key is not None and key != operation.id:
        waiting = world.get(OPERATIONS, key)
        assert waiting is not None
        ahead += waiting.state == "queued"
        key = waiting.next_waiting
    return ahead
