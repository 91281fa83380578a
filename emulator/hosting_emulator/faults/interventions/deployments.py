"""Interventions that change deployments."""

from __future__ import annotations

from typing import Annotated, get_args

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import Duration
from hosting_emulator.contract.json_schema import whole
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.contract.value_texts import count_text
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world import deployments, operations
from hosting_emulator.world.deployments import BUILD_FAILED, put_past_deployment
from hosting_emulator.world.indexes import deployment_count, latest_deployments
from hosting_emulator.world.population_parts import (
    DeploymentPart,
)
from hosting_emulator.world.records import (
    Deployment,
    DeploymentEnd,
    Ending,
    Operation,
    Project,
)
from hosting_emulator.world.streams import draw, new_deployment_id, new_id
from hosting_emulator.world.tables import DEPLOYMENTS
from hosting_emulator.world.value import Change

#: The statuses that mean that a deployment has ended.
DEPLOYMENT_ENDS = (*get_args(DeploymentEnd), "superseded")


@intervention(project="shop", count=3, status="failed")
def add_deployments(
    change: Change,
    project: Project,
    count: Annotated[int, Meta(ge=1, le=10_000)] = 1,
    status: DeploymentEnd = "ready",
    commit: Annotated[str, whole("^[0-9a-f]{40}$")] | None = None,
    ago: Duration | None = None,
    at: str | None = None,
) -> str:
    """`count` deployments are added to a project, with the current time or the time in `ago` or `at`.

    This time must not be earlier than that of the project's latest deployment.
    """
    try:
        created_ms = DeploymentPart(ago=ago, at=at).began_ms(change.now_ms, change.now_ms)
    except ValueError as error:
        raise DocumentRefused(str(error), "at" if ago is None else "ago") from None
    created_at = format_timestamp(created_ms)
    for latest in latest_deployments(change.world.indexes, project.id, 1):
        # Lists show deployments in creation order, so refuse an earlier time.
        if created_at < latest.created_at:
            raise DocumentRefused(
                f"{project.alias} has a later deployment, from {latest.created_at}; give a later "
                "time"
            )
    for _ in range(count):
        digests = draw(change, "digests", 64)
        if commit is not None:
            digests = bytes.fromhex(commit) + digests[20:]
        put_past_deployment(
            change,
            project,
            status,
            digests,
            deployment_id=new_deployment_id(change, created_ms),
            operation_id=new_id(change, created_ms),
            created_at=created_at,
            updated_at=created_at,
        )
    noun = "deployment" if count == 1 else "deployments"
    return f"{project.alias} has {count} more {status} {noun}"


@intervention(project="shop", message="Out of memory.")
def fail_deployment(
    change: Change, operation: Operation, message: str = BUILD_FAILED.message
) -> str:
    """The deployment of an operation fails, and the operation fails too."""
    if operation.deployment_id is None:
        raise DocumentRefused(f"operation {operation.id} creates no deployment")
    failure = replace(BUILD_FAILED, message=message)
    operations.fail(change, operation, failure, Ending("intervention", "fail_deployment"))
    return f"deployment {operation.deployment_id} failed"


@intervention(project="shop")
def fail_ready_deployment(change: Change, project: Project, deployment: str | None = None) -> str:
    """A ready deployment fails, by default the project's latest ready deployment."""
    record = _find_ready(change, project, deployment)
    deployments.end_ready_deployment(change, record, "failed")
    return (
        f"deployment {record.id} failed after it was ready: a client sees this in the list of "
        "deployments"
    )


@intervention(project="shop")
def supersede_deployment(change: Change, project: Project, deployment: str | None = None) -> str:
    """A ready deployment is superseded, by default the project's latest ready deployment."""
    record = _find_ready(change, project, deployment)
    deployments.end_ready_deployment(change, record, "superseded")
    return f"deployment {record.id} is superseded: a client sees this in the list of deployments"


@intervention(project="shop", count=2)
def remove_deployments(
    change: Change,
    project: Project,
    deployment: str | None = None,
    count: Annotated[int, Meta(ge=1, le=10_000)] = 1,
) -> str:
    """Deployments disappear from a project's list: the one in `deployment`, or else the `count`
    oldest.

    Only deployments that have ended can be removed. Cursors remain valid, and no other deployment
    is repeated or skipped.
    """
    if deployment is not None and count != 1:
        raise DocumentRefused("give either deployment or count, not both", "count")
    if deployment is not None:
        records = [_find_deployment(change, project, deployment)]
    else:
        records = _oldest(change, project, count)
    for record in records:
        if not _has_ended(record):
            raise DocumentRefused(
                f"deployment {record.id} is {record.status}: only a deployment that has ended can "
                "be removed",
                "deployment",
            )
        deployments.remove_deployment(change, record)
    noun = "deployment" if len(records) == 1 else "deployments"
    return f"{len(records)} {noun} of {project.alias} removed from the list of deployments"


def _has_ended(deployment: Deployment) -> bool:
    return deployment.status in DEPLOYMENT_ENDS


def _find_deployment(change: Change, project: Project, deployment_id: str) -> Deployment:
    """Return the project's deployment with this id.

    Raises DocumentRefused if there is no such deployment, or if it was removed.
    """
    deployment = change.get(DEPLOYMENTS, deployment_id)
    if deployment is None or deployment.project_id != project.id:
        raise DocumentRefused(
            f"{project.alias} has no deployment {deployment_id[:80]!r}", "deployment"
        )
    if deployment.removed_at is not None:
        raise DocumentRefused(f"deployment {deployment.id} was already removed", "deployment")
    return deployment


def _present_deployments(change: Change, project: Project) -> list[Deployment]:
    """Return a project's deployments that have not been removed, latest first."""
    # Include this change's rows, because several interventions can be part of one change.
    indexes = change.applied().indexes
    return latest_deployments(indexes, project.id, deployment_count(indexes, project.id))


def _find_ready(change: Change, project: Project, deployment_id: str | None) -> Deployment:
    """Return the ready deployment with this id, or the latest ready deployment if the id is None.

    Raises DocumentRefused if there is no such deployment, or if the deployment is not ready.
    """
    if deployment_id is None:
        for latest in _present_deployments(change, project):
            if latest.status == "ready":
                return latest
        raise DocumentRefused(f"{project.alias} has no ready deployment")
    deployment = _find_deployment(change, project, deployment_id)
    if deployment.status != "ready":
        raise DocumentRefused(
            f"deployment {deployment.id} is {deployment.status}, not ready", "deployment"
        )
    return deployment


def _oldest(change: Change, project: Project, count: int) -> list[Deployment]:
    """Return the `count` oldest deployments of a project that have ended.

    Raises DocumentRefused if there are fewer than `count`.
    """
    ended = [record for record in _present_deployments(change, project)[::-1] if _has_ended(record)]
    if len(ended) < count:
        raise DocumentRefused(
            f"{project.alias} has {count_text(len(ended), 'deployment')} that can be removed, fewer "
            f"than {count}: only a deployment that has ended can be removed",
            "count",
        )
    return ended[:count]
