"""Control of operations: list them, say why one stands where it does, take its next step."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.world import operations, views
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change


async def list_operations(context: Context, world: str) -> web.Response:
    """GET …/operations?unfinished=true, oldest first."""
    engine = context.engine(world)
    wanted = parse_qs(context.query).get("unfinished", ["false"])[-1]
    if wanted not in ("true", "false"):
        raise ControlRefused(400, "Bad request", "unfinished is true or false")
    engine.run_due()
    found = unfinished(engine) if wanted == "true" else _in_order(engine)
    return answers.json({"items": [_view(engine, operation) for operation in found]})


def unfinished(engine: Engine) -> list[Operation]:
    """Return the operations that have not ended, oldest first."""
    return [found for found in _in_order(engine) if not operations.finished(found)]


def _in_order(engine: Engine) -> list[Operation]:
    found = (operation for _, operation in engine.world.rows(OPERATIONS))
    return sorted(found, key=lambda operation: (operation.created_ms, operation.id))


def _view(engine: Engine, operation: Operation) -> dict[str, Any]:
    project = engine.world.get(PROJECTS, operation.project_id)
    return {
        "id": operation.id,
        "kind": operation.kind,
        "project": project.alias if project else operation.project_id,
        "state": operation.state,
        "phase": operation.phase,
        "stuck": operation.stuck,
        "created_at": operation.created_at,
        "updated_at": operation.updated_at,
    }


def find_operation(engine: Engine, operation_id: str) -> Operation:
    """Return an operation of a world. Raises ControlRefused 404."""
    operation = engine.world.get(OPERATIONS, operation_id)
    if operation is None:
        raise ControlRefused(
            404, "No such operation", f"this world has no operation {operation_id[:40]!r}"
        )
    return operation


async def why_operation(context: Context, world: str, operation: str) -> web.Response:
    """GET …/operations/{operation}/why."""
    # Imported here: a start is not to wait for what few ever ask.
    from hosting_emulator.engine.why import why

    engine = context.engine(world)
    engine.run_due()
    find_operation(engine, operation)
    return answers.json(why(engine, operation))


async def step_operation(context: Context, world: str, operation: str) -> web.Response:
    """POST …/operations/{operation}/step: take the next step of its plan now, and show it."""
    from hosting_emulator.interventions import InterventionRefused, read_intervention

    engine = context.engine(world)
    now_ms = engine.run_due()
    find_operation(engine, operation)
    change = Change(engine.world, now_ms)
    try:
        read_intervention({"step_operation": {"operation": operation}}).apply(change)
    except InterventionRefused as error:
        raise ControlRefused(409, "Operation not stepped", str(error)) from None
    shown = views.operation(change, change.row(OPERATIONS, operation))
    engine.commit(change, "operation stepped")
    return answers.json(shown)
