"""Deployments.

Each deployment is created by an operation, and its status follows that operation's state until the
operation ends.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world import lifecycles
from hosting_emulator.world.naming import hostnames
from hosting_emulator.world.plans import DEPLOYING_PLAN, INITIALIZE
from hosting_emulator.world.records import Deployment, Operation, OperationFailure, Project
from hosting_emulator.world.streams import draw
from hosting_emulator.world.tables import DEPLOYMENTS, OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change

BUILD_FAILED = OperationFailure(
    code="operation_failed",
    message="The build exited with status 1.",
    retryable=True,
    suggested_action="Read the deployment logs, fix the build and deploy again.",
)


def put_deployment(
    change: Change, project: Project, operation: Operation, digests: bytes, status: str = "queued"
) -> None:
    """Write a new deployment for an operation.

    `digests` contains 64 bytes. The first 20 bytes are the commit hash. The source digest depends
    only on the commit.
    """
    commit = digests[:20]
    artifact_digest = None
    url = None
    if status == "ready":
        artifact_digest = _digest(b"artifact", digests)
        url = _production_url(change, project)
    deployment = Deployment(
        id=str(operation.deployment_id),
        project_id=project.id,
        operation_id=operation.id,
        commit_sha=commit.hex(),
        source_digest=_digest(b"source", commit),
        build_plan_digest=_digest(b"build plan", digests),
        status=status,
        created_at=operation.created_at,
        updated_at=operation.updated_at,
        artifact_digest=artifact_digest,
        url=url,
    )
    change.put(DEPLOYMENTS, deployment.id, deployment)


def _digest(purpose: bytes, content: bytes) -> str:
    return "sha256:" + sha256(purpose + content).hexdigest()


def put_past_deployment(
    change: Change,
    project: Project,
    status: str,
    digests: bytes,
    *,
    deployment_id: str,
    operation_id: str,
    created_at: str,
    updated_at: str,
) -> None:
    """Write a deployment whose operation has already ended, and the operation itself."""
    is_ready = status == "ready"
    operation = Operation(
        id=operation_id,
        kind=INITIALIZE,
        project_id=project.id,
        created_at=created_at,
        updated_at=updated_at,
        created_ms=change.now_ms,
        state="succeeded" if is_ready else status,
        phase="done",
        step=len(DEPLOYING_PLAN) - 1,
        deployment_id=deployment_id,
        build_completed_at=updated_at if is_ready else None,
        result={"source_generation": project.source_generation} if is_ready else None,
        error=BUILD_FAILED if status == "failed" else None,
    )
    put_deployment(change, project, operation, digests, status)
    change.put(OPERATIONS, operation.id, operation)


def move_deployment(change: Change, operation: Operation, status: str) -> None:
    """Set the status of an operation's deployment. Does nothing if the operation has no deployment.

    Raises ValueError if the lifecycle of deployments does not allow the transition.
    """
    if operation.deployment_id is None:
        return
    deployment = change.row(DEPLOYMENTS, operation.deployment_id)
    if deployment.status == status:
        return
    lifecycles.DEPLOYMENT.move(deployment.status, status)
    changes: dict[str, Any] = {}
    if status in ("deploying", "ready") and deployment.artifact_digest is None:
        changes["artifact_digest"] = "sha256:" + draw(change, "digests", 32).hex()
    if status == "ready":
        changes["url"] = _production_url(change, change.row(PROJECTS, operation.project_id))
    now = format_timestamp(change.now_ms)
    moved = replace(deployment, status=status, updated_at=now, **changes)
    change.put(DEPLOYMENTS, moved.id, moved)


def end_ready_deployment(change: Change, deployment: Deployment, status: str) -> None:
    """Move a ready deployment to a later status, and remove its URL.

    The deployment's operation does not change. Raises ValueError if the lifecycle of deployments
    does not allow the transition.
    """
    lifecycles.DEPLOYMENT.move(deployment.status, status)
    now = format_timestamp(change.now_ms)
    ended = replace(deployment, status=status, updated_at=now, url=None)
    change.put(DEPLOYMENTS, ended.id, ended)


def remove_deployment(change: Change, deployment: Deployment) -> None:
    """Remove a deployment, so that it no longer appears on any page of the project's list.

    The deployment keeps its position in the list, because cursors refer to positions.
    """
    removed_at = format_timestamp(change.now_ms)
    change.put(DEPLOYMENTS, deployment.id, replace(deployment, removed_at=removed_at))


def _production_url(change: Change, project: Project) -> str:
    return "https://" + hostnames(change.world.name, change.assumptions, project).production
