"""Interventions on operations, the project's claim and deployments."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.interventions.base import (
    Intervention,
    InterventionRefused,
    find_operation,
    find_project,
)
from hosting_emulator.world import lifecycles, operations
from hosting_emulator.world.records import Deployment, Failure, Operation, Reconciliation
from hosting_emulator.world.streams import draw, new_id
from hosting_emulator.world.tables import DEPLOYMENTS, OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change
from hosting_emulator.world.zones import hostnames

_FAILED = "operation_failed"


class StickOperation(Intervention, frozen=True):
    """An operation stops moving, whatever the clock does, until it is released."""

    operation: str | None = None
    project: str | None = None

    def apply(self, change: Change) -> str:
        found = find_operation(change, self.operation, self.project)
        if found.stuck:
            raise InterventionRefused(f"operation {found.id} is stuck already")
        operations.stick(change, found)
        return f"operation {found.id} is stuck while {found.state}"


class ReleaseOperation(Intervention, frozen=True):
    """A stuck operation moves again from where it was."""

    operation: str | None = None
    project: str | None = None

    def apply(self, change: Change) -> str:
        found = find_operation(change, self.operation, self.project)
        if not found.stuck:
            raise InterventionRefused(f"operation {found.id} is not stuck")
        if found.reconciliation and found.reconciliation.state in ("required", "running"):
            raise InterventionRefused(
                f"operation {found.id} waits for its reconciliation: complete or exhaust that"
            )
        operations.release(change, found)
        return f"operation {found.id} moves again"


class StepOperation(Intervention, frozen=True):
    """An operation takes the next step of its plan now, whatever its profile says."""

    operation: str | None = None
    project: str | None = None

    def apply(self, change: Change) -> str:
        found = find_operation(change, self.operation, self.project)
        claim = change.row(PROJECTS, found.project_id).claim
        if claim != found.id:
            raise InterventionRefused(
                f"operation {found.id} waits: operation {claim} holds the project's claim; step "
                "that one first"
            )
        if found.kind == operations.HELD:
            raise InterventionRefused(f"operation {found.id} only holds the claim: release_claim")
        if found.stuck:
            raise InterventionRefused(f"operation {found.id} is stuck; release it first")
        stepped = operations.step(change, found.id)
        return f"operation {found.id} is {stepped.state} ({stepped.phase})"


class FailOperation(Intervention, frozen=True):
    """An operation fails now, with the error that is given."""

    operation: str | None = None
    project: str | None = None
    code: Annotated[str, Meta(min_length=1)] = _FAILED
    message: str = "The operation failed."
    retryable: bool = False
    suggested_action: str = "Read the deployment logs, mend the cause and start a new operation."

    def apply(self, change: Change) -> str:
        found = find_operation(change, self.operation, self.project)
        failure = Failure(self.code, self.message, self.retryable, self.suggested_action)
        operations.fail(change, found, failure)
        return f"operation {found.id} failed with {self.code}"


class CancelOperation(Intervention, frozen=True):
    """An operation is cancelled; one that waits leaves the queue."""

    operation: str | None = None
    project: str | None = None

    def apply(self, change: Change) -> str:
        found = find_operation(change, self.operation, self.project)
        operations.finish(change, found, "cancelled")
        return f"operation {found.id} is cancelled"


class HoldClaim(Intervention, frozen=True):
    """Somebody else's operation takes a project's mutation claim: what comes now waits."""

    project: str

    def apply(self, change: Change) -> str:
        project = find_project(change, self.project)
        if project.claim is not None:
            raise InterventionRefused(
                f"operation {project.claim} holds the claim of {project.alias} already"
            )
        held = operations.hold_claim(change, project)
        return f"operation {held.id} holds the claim of {project.alias}"


class ReleaseClaim(Intervention, frozen=True):
    """The operation that was made to hold a project's claim ends, and the next one moves."""

    project: str

    def apply(self, change: Change) -> str:
        project = find_project(change, self.project)
        held = change.get(OPERATIONS, project.claim) if project.claim else None
        if held is None or held.kind != operations.HELD:
            raise InterventionRefused(f"the claim of {project.alias} was not held by hold_claim")
        operations.finish(change, held, "succeeded")
        return f"the claim of {project.alias} is free"


class _Reconcile(Intervention, frozen=True):
    operation: str | None = None
    project: str | None = None

    def move(self, change: Change, state: str, advice: str) -> Operation:
        """Move the operation's reconciliation along its table."""
        found = find_operation(change, self.operation, self.project)
        before = found.reconciliation.state if found.reconciliation else "none"
        if not lifecycles.RECONCILIATION.may(before, state):
            raise InterventionRefused(
                f"the reconciliation of {found.id} is {before}; from there it cannot become {state}"
            )
        attempt = found.reconciliation.attempt_id if found.reconciliation else None
        if attempt is None or state == "required":
            attempt = new_id(change)
        observed = format_timestamp(change.now_ms)
        seen = Reconciliation(state, attempt, observed, advice)
        moved = replace(found, reconciliation=seen)
        change.put(OPERATIONS, moved.id, moved)
        return moved


class RequireReconciliation(_Reconcile, frozen=True):
    """An unfinished operation needs reconciliation, and stops until that has been completed."""

    def apply(self, change: Change) -> str:
        moved = self.move(
            change, "required", "Keep polling the same operation; do not start another."
        )
        if not moved.stuck:
            operations.stick(change, moved)
        return f"operation {moved.id} requires reconciliation"


class RunReconciliation(_Reconcile, frozen=True):
    """The required reconciliation of an operation is running."""

    def apply(self, change: Change) -> str:
        moved = self.move(change, "running", "Keep polling the same operation.")
        return f"the reconciliation of {moved.id} is running"


class CompleteReconciliation(_Reconcile, frozen=True):
    """The reconciliation attempt is completed, and the operation moves again: it has not ended."""

    def apply(self, change: Change) -> str:
        moved = self.move(change, "completed", "Keep polling: this alone is no success.")
        operations.release(change, moved)
        return f"the reconciliation of {moved.id} is completed"


class ExhaustReconciliation(_Reconcile, frozen=True):
    """Reconciliation has no attempts left: the operation fails with reconciliation_exhausted."""

    def apply(self, change: Change) -> str:
        moved = self.move(change, "exhausted", "Read the operation's error.")
        failure = Failure(
            "reconciliation_exhausted",
            "Reconciliation could not determine the outcome in the attempts it has.",
            False,
            "Look at the project's state, then start a new operation with a new Idempotency-Key.",
        )
        operations.fail(change, moved, failure)
        return f"operation {moved.id} failed: its reconciliation is exhausted"


class AddDeployments(Intervention, frozen=True):
    """A project gets more deployments, as if they had been made now, one after the other."""

    project: str
    count: Annotated[int, Meta(ge=1, le=10_000)] = 1
    status: Literal["ready", "failed", "cancelled"] = "ready"

    def apply(self, change: Change) -> str:
        project = find_project(change, self.project)
        url = "https://" + hostnames(change.world.name, change.assumptions, project).production
        ready, now = self.status == "ready", format_timestamp(change.now_ms)
        for _ in range(self.count):
            digests = draw(change, "digests", 64).hex()
            deployment = Deployment(
                id=new_id(change),
                project_id=project.id,
                operation_id=new_id(change),
                commit_sha=digests[:40],
                source_digest="sha256:" + digests[:64],
                build_plan_digest="sha256:" + digests[64:],
                status=self.status,
                created_at=now,
                updated_at=now,
                artifact_digest="sha256:" + digests[32:96] if ready else None,
                url=url if ready else None,
            )
            change.put(DEPLOYMENTS, deployment.id, deployment)
            operations.past_operation(change, deployment)
        return f"{project.alias} has {self.count} more deployments, {self.status}"


class FailDeployment(Intervention, frozen=True):
    """The deployment that an operation is making fails, and the operation with it."""

    operation: str | None = None
    project: str | None = None
    message: str = operations.BUILD_FAILED.message

    def apply(self, change: Change) -> str:
        found = find_operation(change, self.operation, self.project)
        if found.deployment_id is None:
            raise InterventionRefused(f"operation {found.id} makes no deployment")
        failure = replace(operations.BUILD_FAILED, message=self.message)
        operations.fail(change, found, failure)
        return f"deployment {found.deployment_id} failed"
