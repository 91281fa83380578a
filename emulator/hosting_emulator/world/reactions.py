"""Outcomes that react: those with a condition act when a change of the world makes it hold, or end.

A failure, a cancellation and a reconciliation begin as soon as the condition holds in a phase of the
outcome. An operation that is held in a phase continues as soon as the condition no longer holds. (At the
end of the phase, `operations.step` decides whether the operation is held.)
"""

from __future__ import annotations

from hosting_emulator.world.indexes import reacting_operations
from hosting_emulator.world.operations import begin_outcome, condition_holds, count_hit, end_hold
from hosting_emulator.world.plans import is_held, outcome_phases, reacts
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change, World


def react(change: Change) -> None:
    """Let the outcomes act for which a change has made a condition hold, or end.

    What they do is a part of the change, and may make further outcomes act.
    """
    while _react_once(change):
        pass


def _react_once(change: Change) -> bool:
    """Let the first of these outcomes act. Return whether there is one."""
    operations = _reacting_operations(change)
    if not operations:
        return False
    world = change.applied()
    return any(_act(change, world, operation) for operation in operations)


def _reacting_operations(change: Change) -> list[Operation]:
    """Return the operations of a change whose outcomes react, the oldest first."""
    ids = set(reacting_operations(change.world.indexes))
    ids.update(change.writes.get(OPERATIONS.name, ()))
    # Ids sort in the order in which they were made.
    operations = [change.get(OPERATIONS, id_) for id_ in sorted(ids)]
    return [operation for operation in operations if operation is not None and reacts(operation)]


def _act(change: Change, world: World, operation: Operation) -> bool:
    """Let the outcome of an operation act, if its condition says so. Return whether it acted."""
    outcome = operation.outcome
    assert outcome is not None
    holds = condition_holds(world, operation)
    if is_held(operation):
        if not holds:
            end_hold(change, operation)
        return not holds
    if not holds or not _may_begin(change, operation) or not count_hit(change, outcome.id):
        return False
    begin_outcome(change, operation)
    return True


def _may_begin(change: Change, operation: Operation) -> bool:
    """Return whether the outcome of an operation can take its first step now."""
    assert operation.outcome is not None
    first_step = operation.outcome.steps[0]
    if first_step == "stuck" or operation.phase not in outcome_phases(operation):
        return False
    if first_step == "cancelled":
        return True
    if first_step == "required" and operation.stuck:
        return False
    return change.row(PROJECTS, operation.project_id).claim == operation.id
