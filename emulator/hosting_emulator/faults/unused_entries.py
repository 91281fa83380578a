"""Explains why a fault or an outcome has never acted."""

from __future__ import annotations

from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.faults.outcomes import outcome_kinds
from hosting_emulator.faults.usage import EntryUsage
from hosting_emulator.world.conditions import condition_text, unmet_condition
from hosting_emulator.world.fault_records import Fault, is_spent
from hosting_emulator.world.plans import is_finished, outcome_phases
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import World


def unused_reason(usage: EntryUsage, world: World, entry: Fault, now_ms: int) -> str | None:
    """Return why a fault or an outcome has never acted, or None if it has.

    An outcome that has been applied to an operation does not count as having acted until it changes
    the operation.
    """
    is_outcome = entry.kind in outcome_kinds()
    if entry.hits:
        if is_outcome:
            return _unfinished_reason(world, entry)
        return None
    if is_outcome:
        reason = _unmet_reason(world, entry)
        if reason is not None:
            return reason
    if usage.nearest is not None:
        reason = usage.nearest.describe()
        if is_spent(entry, now_ms):
            reason += f" (the rule ended at {entry.rule.until})"
        return reason
    if usage.considered:
        return "the matching requests did not take effect"
    if is_outcome:
        return "no operation was started while the outcome was armed"
    if stage_of(entry) == "handshake":
        return "there was no TLS handshake while the fault was armed"
    if stage_of(entry) == "read":
        return "there was no read while the fault was armed"
    return "there was no request while the fault was armed"


def _unfinished_reason(world: World, outcome: Fault) -> str | None:
    """Return why an outcome has not changed any operation to which it applies.

    Return None if the outcome has changed an operation, or if it does not apply to any.
    """
    waiting = waiting_operation(world, outcome)
    if waiting is None or waiting.outcome is None:
        return None
    verb = "ended" if is_finished(waiting) else "is still"
    phase = waiting.outcome.phase
    return (
        f"operation {waiting.id} {verb} in the state {waiting.state}, before the end of the {phase} "
        "phase"
    )


def waiting_operation(world: World, outcome: Fault) -> Operation | None:
    """Return the latest operation to which an outcome applies, preferring unfinished operations.

    Return None if the outcome has changed an operation, or if it does not apply to any.
    """
    waiting: list[Operation] = []
    for _, operation in world.rows(OPERATIONS):
        applied = operation.outcome
        if applied is None or applied.id != outcome.id:
            continue
        if applied.steps_taken or not applied.steps:
            return None
        waiting.append(operation)
    # The highest id is the latest, because ids sort by creation time.
    return max(
        waiting, key=lambda operation: (not is_finished(operation), operation.id), default=None
    )


def _unmet_reason(world: World, outcome: Fault) -> str | None:
    """Return why an outcome with a condition has not acted on any operation.

    Return None if the outcome has no condition, or if it has not been applied to any operation.
    """
    condition = outcome.rule.while_
    if condition is None:
        return None
    applied = [
        operation
        for _, operation in world.rows(OPERATIONS)
        if operation.outcome is not None and operation.outcome.id == outcome.id
    ]
    if not applied:
        return None
    # The highest id is the latest, because ids sort by creation time.
    latest = max(applied, key=lambda operation: operation.id)
    phases = " or ".join(outcome_phases(latest))
    unmet = unmet_condition(condition, world, latest.project_id, None)
    now = f" (now {unmet})" if unmet else ""
    verb = "ended" if is_finished(latest) else "is still"
    return (
        f"operation {latest.id} {verb} in the state {latest.state}, and was never in the {phases} "
        f"phase with this condition met: {condition_text(condition)}{now}"
    )
