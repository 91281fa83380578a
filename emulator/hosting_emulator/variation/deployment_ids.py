"""Varies the ids of the deployments that a new world contains, so that they do not sort by time."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from hosting_emulator.world.indexes import (
    deployment_chunks,
    deployment_count,
    deployments_between,
    without_deployments,
)
from hosting_emulator.world.naming import in_order
from hosting_emulator.world.records import Deployment, Variation
from hosting_emulator.world.streams import varied_time
from hosting_emulator.world.tables import DEPLOYMENTS, OPERATIONS, PROJECTS
from hosting_emulator.world.value import World, apply


def vary_deployment_ids(world: World, variation: Variation) -> World:
    """Return a new world in which some deployments have different ids.

    The deployments keep their positions in the list. The world must be new, because an id must not
    change once a client has seen it. An id also stays the same if another record, such as a planned
    intervention, mentions it.
    """
    deployments = _deployments_in_order(world)
    new_ids: dict[str, str] = {}
    for deployment in deployments:
        time = varied_time(variation, deployment.id)
        if time is not None:
            new_ids[deployment.id] = time + deployment.id[10:]
    if not new_ids:
        return world
    other_records = _records_beside_deployments(world)
    for id_ in list(new_ids):
        if id_.encode() in other_records:
            del new_ids[id_]
    renamed_deployments: dict[str, Any] = {}
    for deployment in deployments:
        id_ = new_ids.get(deployment.id, deployment.id)
        renamed_deployments[id_] = replace(deployment, id=id_)
    operations: dict[str, Any] = {}
    for key, operation in world.rows(OPERATIONS):
        if operation.deployment_id in new_ids:
            operations[key] = replace(operation, deployment_id=new_ids[operation.deployment_id])
    # Deployments cannot be removed from the index, so rebuild it in the order of the list.
    tables = {**world.tables, DEPLOYMENTS.name: {}}
    emptied = replace(world, tables=tables, indexes=without_deployments(world.indexes))
    writes = {DEPLOYMENTS.name: renamed_deployments, OPERATIONS.name: operations}
    return apply(emptied, writes, commit=world.commit, at_ms=world.at_ms)


def _deployments_in_order(world: World) -> list[Deployment]:
    """Return all deployments, grouped by project, in the order of each project's list."""
    deployments: list[Deployment] = []
    for project in in_order(world, PROJECTS):
        count = deployment_count(world.indexes, project.id)
        chunks = deployment_chunks(world.indexes, project.id, 0, count)
        deployments += deployments_between(chunks, 0, count)
    return deployments


def _records_beside_deployments(world: World) -> bytes:
    """Return all records that could mention a deployment's id, apart from deployments and operations."""
    names = set(world.tables) - {DEPLOYMENTS.name, OPERATIONS.name}
    return msgspec.json.encode([dict(world.tables[name]) for name in sorted(names)])
