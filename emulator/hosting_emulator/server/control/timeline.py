"""The states that operations went through, over world time, as far as the history remembers."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import CAPACITY
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.requests import read_limit
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS

Span = dict[str, Any]


async def show_timeline(context: Context, world: str) -> web.Response:
    """GET …/timeline?limit=20: the newest operations, newest first, each with its states; `total` counts all.

    A span is a state, a phase, whether it was stuck, and from when to when, however late anybody
    looked; the last one of an operation that has not ended goes on (`to` is null). What was before
    the oldest commit that is kept is one span in the state of that commit.
    """
    engine = context.engine(world)
    limit = read_limit(context, "limit", 20)
    now_ms = engine.run_due()
    rows = (operation for _, operation in engine.world.rows(OPERATIONS))
    newest = sorted(rows, key=lambda row: (parse_timestamp(row.created_at), row.id), reverse=True)[
        :limit
    ]
    spans = _spans(engine, newest)
    items = [_item(engine, operation, spans[operation.id]) for operation in newest]
    total = engine.world.count(OPERATIONS)
    return answers.json({"now": format_timestamp(now_ms), "total": total, "items": items})


def _spans(engine: Engine, wanted: list[Operation]) -> dict[str, list[Span]]:
    """Walk the history once; a record that is still the same object has not changed."""
    seen: dict[str, Operation | None] = {}
    spans: dict[str, list[Span]] = {operation.id: [] for operation in wanted}
    for place, moment in enumerate(reversed(engine.history.newest(CAPACITY))):
        state = moment.world
        for at_ms, entered in moment.entered if place else ():
            if entered.id in spans:
                _enter(spans[entered.id], entered, format_timestamp(at_ms))
        for operation_id, found in spans.items():
            record = state.get(OPERATIONS, operation_id)
            if record is seen.get(operation_id):
                continue
            if record is None:  # the world went back to before it
                found.clear()
            else:
                _enter(found, record, format_timestamp(state.at_ms))
            seen[operation_id] = record
    return spans


def _enter(spans: list[Span], record: Operation, at: str) -> None:
    """Begin a span when the record is in another state; being stuck begins with its commit, at `at`."""
    last = spans[-1] if spans else None
    entered: Span = {"state": record.state, "phase": record.phase, "stuck": record.stuck}
    start = record.created_at
    if last is not None:
        moved = (last["state"], last["phase"]) != (record.state, record.phase)
        if not moved and last["stuck"] == record.stuck:
            return
        start = record.updated_at if moved else at
        last["to"] = start
    end = record.updated_at if finished(record) else None
    spans.append({**entered, "from": start, "to": end})


def _item(engine: Engine, operation: Operation, spans: list[Span]) -> dict[str, Any]:
    project = engine.world.get(PROJECTS, operation.project_id)
    return {
        "id": operation.id,
        "kind": operation.kind,
        "project": project.alias if project else operation.project_id,
        "state": operation.state,
        "spans": spans,
    }
