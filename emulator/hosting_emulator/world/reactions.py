"""Runs the outcomes that react to changes in the world.

An outcome with a condition reacts when a change to the world makes the condition true or false.

A failure, a cancellation or a reconciliation begins as soon as the condition is true in one of the
outcome's phases. An operation that is held in a phase continues as soon as the condition is false.
The `operations.step` function decides at the end of a phase whether to hold the operation.
"""

from __future__ import annotations

from hosting_emulator.world.operations import begin_outcome, condition_holds, count_hit, end_hold
from hosting_emulator.world.plans import is_held, outcome_phases
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change, World


def react(change: Change) -> None:
    """Run the outcomes that react to a change, repeatedly until none reacts.

    What an outcome does becomes part of the change, and can cause further outcomes to react.
    """
    while _react_once(change):
        pass


def _react_once(change: Change) -> bool:
    """Run the first outcome that reacts to a change. Return whether an outcome acted."""
    operations = _reacting_operations(change)
    if not operations:
        return False
    world = change.applied()
    return any(_act(change, world, operation) for operation in operations)


def _reacting_operations(change: Change) -> list[Operation]:
    """Return the operations whose outcomes react to a change, oldest first."""
    # Ids sort by creation time.
    return [change.row(OPERATIONS, id_) for id_ in sorted(change.reacting)]


def _act(change: Change, world: World, operation: Operation) -> bool:
    """Start an operation's outcome if its condition is true, or end a hold if its condition is false.

    Return whether the outcome acted.
    """
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
    """Return whether an operation's outcome can take its first step now."""
    assert operation.outcome is not None
    first_step = operation.outcome.steps[0]
    if first_step == "stuck" or operation.phase not in outcome_phases(operation):
        return False
    if first_step == "cancelled":
        return True
    if first_step == "required" and operation.stuck:
        return False
    return change.row(PROJECTS, operation.project_id).claim == operation.id
