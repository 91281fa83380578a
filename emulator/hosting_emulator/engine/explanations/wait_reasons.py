"""Describes briefly what an unfinished operation is waiting for. The `operations` module gives the
details.
"""

from __future__ import annotations

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.conditions import condition_text
from hosting_emulator.world.plans import HELD, is_finished, is_held, is_reconciling, profile_of
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import PROJECTS, SCHEDULE
from hosting_emulator.world.value import World


def wait_reason(world: World, operation: Operation) -> str | None:
    """Describe what an operation is waiting for, or return None if it has ended."""
    if is_finished(operation):
        return None
    project = world.get(PROJECTS, operation.project_id)
    if operation.kind == HELD:
        return "the release_claim intervention"
    if project is not None and project.claim not in (None, operation.id):
        return f"the project's mutation claim, which operation {project.claim} holds"
    if operation.stuck and is_reconciling(operation) and operation.reconciliation is not None:
        return f"its reconciliation, which is {operation.reconciliation.state}"
    if operation.stuck:
        return _end_of_hold(world, operation)
    due_at = _due_at(world, operation)
    if due_at is not None:
        return f"its next step, due at {due_at}"
    if profile_of(operation)[0] == "per_poll":
        return "polls of the operation"
    return "the step_operation intervention"


def _end_of_hold(world: World, operation: Operation) -> str:
    """Describe the event that will release a stuck operation."""
    outcome = operation.outcome
    if outcome is None or not is_held(operation):
        return f"the release_operation intervention, because {operation.stuck_by} stopped it"
    ends = []
    due_at = _due_at(world, operation)
    if due_at is not None:
        ends.append(f"the time {due_at}")
    if outcome.while_ is not None:
        ends.append(f"a change that ends this condition: {condition_text(outcome.while_)}")
    return f"{' or '.join(ends)} ({outcome.id} holds it)"


def _due_at(world: World, operation: Operation) -> str | None:
    """Return the time of an operation's next event, or None if nothing is scheduled."""
    event = world.get(SCHEDULE, operation.event or "")
    return None if event is None else format_timestamp(event.due_ms)
