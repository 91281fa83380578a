"""Endpoints that list and explain a world's operations and take their next steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec.structs import replace

from hosting_emulator import messages
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.control.operation_names import require_operation, require_operation_of
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.explanations.operations import why
from hosting_emulator.engine.explanations.wait_reasons import wait_reason
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.http.endpoint import (
    Context,
    find,
    refused_as,
)
from hosting_emulator.http.query import Query, Text
from hosting_emulator.http.time_slices import sort_in_slices
from hosting_emulator.messages import JsonObject
from hosting_emulator.world import views
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.plans import is_finished
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change, World


async def list_operations(
    engine: Engine,
    unfinished: Annotated[bool, Query("Return only operations that have not ended.")] = False,
    project: Annotated[
        Text, Query("Return only operations on this project, given by alias or id.", "shop")
    ] = None,
) -> Iterator[messages.OperationState]:
    """List operations, oldest first. With `unfinished`, list only operations that have not ended.

    With `project`, list only the operations on this project.
    """
    now_ms = engine.run_due()
    world = engine.world
    project_id = None
    if project is not None:
        project_id = find(world, PROJECTS, project).id
    rows = await operations_in_order(world, unfinished=unfinished, project_id=project_id)
    return (_operation_state(world, operation, now_ms) for operation in rows)


def _operation_state(world: World, operation: Operation, now_ms: int) -> messages.OperationState:
    return messages.OperationState(
        id=operation.id,
        kind=operation.kind,
        project=alias_of(world, PROJECTS, operation.project_id),
        state=operation.state,
        phase=operation.phase,
        stuck=operation.stuck,
        created_at=operation.created_at,
        updated_at=operation.updated_at,
        # The operations that a world starts with were created earlier than their records.
        age_ms=now_ms - parse_timestamp(operation.created_at),
        wait_reason=wait_reason(world, operation),
    )


async def operations_in_order(
    world: World, *, unfinished: bool, project_id: str | None = None
) -> Iterator[Operation]:
    """Yield operations, oldest first. With `unfinished`, yield only operations that have not ended.

    With `project_id`, yield only the operations on this project.
    """
    rows = (
        operation
        for _, operation in world.rows(OPERATIONS)
        if project_id in (None, operation.project_id)
    )
    return await sort_in_slices(
        rows,
        key=lambda operation: (operation.created_ms, operation.id),
        condition=lambda operation: not (unfinished and is_finished(operation)),
    )


def why_operation(context: Context, engine: Engine, operation: str) -> messages.Why:
    """Explain an operation's state, what will happen next, and how to advance the operation.

    If a project is given, by alias or id, its operation in progress is explained or, if none is in
    progress, its latest operation.
    """
    engine.run_due()
    explanation = why(engine, require_operation_of(engine.world, operation).id)
    assert explanation is not None
    commands = [
        command_line(command, context.base_url, engine.world.name)
        for command in explanation.commands
    ]
    return replace(explanation, commands=commands)


def step_operation(engine: Engine, operation: str) -> JsonObject:
    """Take an operation's next step now, and return the operation as the public API would."""
    now_ms = engine.run_due()
    require_operation(engine.world, operation)
    change = Change(engine.world, now_ms)
    document = {"step_operation": {"operation": operation}}
    with refused_as(409, "Operation not stepped", DocumentRefused):
        read_intervention(document).apply(change)
    view = views.operation(change, change.row(OPERATIONS, operation))
    engine.commit(change, "operation stepped", {"intervene": document})
    return view
