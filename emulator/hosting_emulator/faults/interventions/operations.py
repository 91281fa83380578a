"""Interventions that change operations, their reconciliations and the mutation claims of projects.

A document names an operation by its id, or by the project whose claim it holds.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world import operations
from hosting_emulator.world.partial_effects import (
    effects_text,
    find_impossible_change,
    find_impossible_effect,
    visible_places,
)
from hosting_emulator.world.plans import HELD, find_early_effect, plan_of
from hosting_emulator.world.records import (
    Ending,
    Operation,
    OperationFailure,
    PartialEffects,
    Project,
)
from hosting_emulator.world.tables import (
    OPERATIONS,
    PROJECTS,
)
from hosting_emulator.world.value import Change

Text = Annotated[str, Meta(min_length=1)]


@intervention(project="shop")
def stick_operation(change: Change, operation: Operation) -> str:
    """An operation stops advancing until it is released, no matter how much time passes."""
    if operation.stuck:
        raise DocumentRefused(f"operation {operation.id} is already stuck")
    operations.stick(change, operation, "stick_operation")
    return f"operation {operation.id} is stuck while {operation.state}"


@intervention(project="shop")
def release_operation(change: Change, operation: Operation) -> str:
    """A stuck operation continues from where it stopped, unless it is waiting for a reconciliation."""
    if not operation.stuck:
        raise DocumentRefused(f"operation {operation.id} is not stuck")
    if operation.reconciliation and operation.reconciliation.state in ("required", "running"):
        raise DocumentRefused(
            f"operation {operation.id} is waiting for a reconciliation; complete or exhaust the "
            "reconciliation"
        )
    operations.release(change, operation)
    return f"operation {operation.id} is no longer stuck"


@intervention(project="shop")
def step_operation(change: Change, operation: Operation) -> str:
    """An operation that holds its project's claim takes its next step now, regardless of its
    profile.
    """
    claim = change.row(PROJECTS, operation.project_id).claim
    if claim != operation.id:
        raise DocumentRefused(
            f"operation {operation.id} is waiting, because operation {claim} holds the project's "
            "claim; step that operation first"
        )
    if operation.kind == HELD:
        raise DocumentRefused(f"operation {operation.id} only holds the claim; use release_claim")
    if operation.stuck:
        raise DocumentRefused(f"operation {operation.id} is stuck; release the operation first")
    stepped = operations.step(change, operation.id, "step_operation")
    return f"operation {operation.id} is {stepped.state} ({stepped.phase})"


@intervention(project="shop", code="operation_failed", message="No space left.")
def fail_operation(
    change: Change,
    operation: Operation,
    code: Text = "operation_failed",
    message: str = "The operation failed.",
    *,
    retryable: bool = False,
    suggested_action: str = "Read the deployment logs, fix the cause and start a new operation.",
    leaves: PartialEffects | None = None,
) -> str:
    """An operation fails now, with an error. `leaves` lists the effects that the operation leaves
    behind.
    """
    _check_effects(change, operation, leaves)
    failure = OperationFailure(code, message, retryable, suggested_action)
    operations.fail(change, operation, failure, Ending("intervention", "fail_operation", leaves))
    return f"operation {operation.id} failed with {code}{_left_text(leaves)}"


@intervention(project="shop")
def cancel_operation(
    change: Change, operation: Operation, leaves: PartialEffects | None = None
) -> str:
    """An operation is cancelled, even if it is still waiting. `leaves` lists the effects that the
    operation leaves behind.
    """
    _check_effects(change, operation, leaves)
    ending = Ending("intervention", "cancel_operation", leaves)
    operations.finish(change, operation, "cancelled", ending)
    return f"operation {operation.id} is cancelled{_left_text(leaves)}"


def _check_effects(change: Change, operation: Operation, effects: PartialEffects | None) -> None:
    """Raise DocumentRefused if an operation cannot leave `effects` behind in its current state."""
    if effects is None:
        return
    reason = find_impossible_effect(operation.kind, effects)
    if reason is None:
        reason = find_early_effect(plan_of(operation)[operation.step], effects)
    if reason is None:
        project = change.row(PROJECTS, operation.project_id)
        reason = find_impossible_change(change, project, effects)
    if reason is not None:
        raise DocumentRefused(f"leaves: {reason}", "leaves")


def _left_text(effects: PartialEffects | None) -> str:
    if effects is None:
        return ""
    return f" and leaves {effects_text(effects)}: {visible_places(effects)}"


@intervention(project="shop")
def require_reconciliation(change: Change, operation: Operation) -> str:
    """An unfinished operation requires reconciliation, and stops until the reconciliation completes."""
    moved = _reconcile(change, operation, "required")
    if not moved.stuck:
        operations.stick(change, moved, "require_reconciliation")
    return f"operation {moved.id} requires reconciliation"


@intervention(project="shop")
def run_reconciliation(change: Change, operation: Operation) -> str:
    """The reconciliation that an operation requires starts running."""
    _reconcile(change, operation, "running")
    return f"the reconciliation of {operation.id} is running"


@intervention(project="shop")
def complete_reconciliation(change: Change, operation: Operation) -> str:
    """The reconciliation attempt completes, and the operation continues.

    If the operation was already stuck before the reconciliation, it stays stuck until it is
    released.
    """
    moved = _reconcile(change, operation, "completed")
    if moved.reconciliation and moved.reconciliation.was_stuck:
        return f"the reconciliation of {moved.id} is complete, but the operation is still stuck"
    operations.release(change, moved)
    return f"the reconciliation of {moved.id} is complete"


@intervention(project="shop")
def exhaust_reconciliation(change: Change, operation: Operation) -> str:
    """No reconciliation attempts are left, so the operation fails with reconciliation_exhausted."""
    moved = _reconcile(change, operation, "exhausted")
    ending = Ending("intervention", "exhaust_reconciliation")
    operations.fail(change, moved, operations.EXHAUSTED, ending)
    return f"operation {moved.id} failed: its reconciliation is exhausted"


def _reconcile(change: Change, operation: Operation, state: str) -> Operation:
    try:
        return operations.reconcile(change, operation, state)
    except ValueError:
        before = operation.reconciliation.state if operation.reconciliation else "none"
        raise DocumentRefused(
            f"the reconciliation of {operation.id} is {before} and cannot become {state}"
        ) from None


@intervention(project="shop")
def hold_claim(change: Change, project: Project) -> str:
    """An additional operation takes a project's free mutation claim, so new operations have to
    wait.
    """
    if project.claim is not None:
        raise DocumentRefused(
            f"operation {project.claim} already holds the claim of {project.alias}"
        )
    held = operations.hold_claim(change, project)
    return f"operation {held.id} holds the claim of {project.alias}"


@intervention(project="shop")
def release_claim(change: Change, project: Project) -> str:
    """The operation that was started by hold_claim ends, and the next waiting operation, if any, starts."""
    held = change.get(OPERATIONS, project.claim) if project.claim else None
    if held is None or held.kind != HELD:
        raise DocumentRefused(f"the claim of {project.alias} was not held by hold_claim")
    operations.finish(change, held, "succeeded", Ending("intervention", "release_claim"))
    return f"the claim of {project.alias} is released"
