"""Interventions in deployments."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import Duration
from hosting_emulator.contract.json_schema import whole
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world import operations
from hosting_emulator.world.deployments import BUILD_FAILED, put_past_deployment
from hosting_emulator.world.indexes import latest_deployments
from hosting_emulator.world.population_parts import (
    DeploymentPart,
)
from hosting_emulator.world.records import (
    DeploymentEnd,
    Ending,
    Operation,
    Project,
)
from hosting_emulator.world.streams import draw, new_deployment_id, new_id
from hosting_emulator.world.value import Change


@intervention
def add_deployments(
    change: Change,
    project: Project,
    count: Annotated[int, Meta(ge=1, le=10_000)] = 1,
    status: DeploymentEnd = "ready",
    commit: Annotated[str, whole("^[0-9a-f]{40}$")] | None = None,
    ago: Duration | None = None,
    at: str | None = None,
) -> str:
    """A project gets more deployments, created one after the other, now or at `ago` or `at`."""
    try:
        created_ms = DeploymentPart(ago=ago, at=at).began_ms(change.now_ms, change.now_ms)
    except ValueError as error:
        raise DocumentRefused(str(error), "at" if ago is None else "ago") from None
    created_at = format_timestamp(created_ms)
    for latest in latest_deployments(change.world.indexes, project.id, 1):
        if created_at < latest.created_at:  # deployments are listed in creation order
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
            deployment_id=new_deployment_id(change),
            operation_id=new_id(change),
            created_at=created_at,
            updated_at=created_at,
        )
    noun = "deployment" if count == 1 else "deployments"
    return f"{project.alias} has {count} more {noun}, {status}"


@intervention
def fail_deployment(
    change: Change, operation: Operation, message: str = BUILD_FAILED.message
) -> str:
    """The deployment of an operation fails, and the operation with it."""
    if operation.deployment_id is None:
        raise DocumentRefused(f"operation {operation.id} creates no deployment")
    failure = replace(BUILD_FAILED, message=message)
    operations.fail(change, operation, failure, Ending("intervention", "fail_deployment"))
    return f"deployment {operation.deployment_id} failed"
