"""Control of a world's clock, and of the operations that move with it."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.words import DocumentRefused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.server.control.context import (
    Body,
    Context,
    ControlRefusal,
    Duration,
    Mode,
    Timestamp,
    found,
    moment,
    refused_as,
)
from hosting_emulator.server.control.worlds import clock_view, operation_view
from hosting_emulator.world import views
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import Change

#: More steps than any queue of operations that a test could want.
_MOST_STEPS = 1_000_000


class ClockChange(Body):
    """The clock's new settings; omitted ones stay. `rate` is world seconds per real second."""

    mode: Mode | None = None
    rate: float | None = None
    at: Timestamp | None = None


class Advance(Body):
    """Exactly one of: a duration (`10m`, `90d`), a timestamp, the id of an operation that is to end."""

    by: Duration | None = None
    to: Timestamp | None = None
    until_operation: str | None = None


def get_clock(engine: Engine) -> dict[str, Any]:
    """Show a world's time."""
    return clock_view(engine)


def put_clock(engine: Engine, body: ClockChange) -> dict[str, Any]:
    """Change a clock's mode, rate or time. Moving back is refused (409)."""
    at_ms = None if body.at is None else moment(body.at)
    with refused_as(400 if at_ms is None else 409, "Clock refused", ClockRefused):
        engine.move_to(at_ms, body.mode, body.rate)
    return clock_view(engine)


def advance_clock(engine: Engine, body: Advance) -> dict[str, Any]:
    """Move time by a duration, to a timestamp, or until an operation ends, and run all due events."""
    if sum(value is not None for value in (body.by, body.to, body.until_operation)) != 1:
        raise ControlRefusal(400, "Bad request", "give exactly one of by, to and until_operation")
    before_ms = engine.run_due()
    with refused_as(409, "Clock refused", ClockRefused):
        if body.until_operation is not None:
            events = _advance_until(engine, body.until_operation)
        elif body.by is not None:
            with refused_as(400, "Bad duration", ValueError):
                by_ms = parse_duration_ms(body.by)
            events = engine.move_by(by_ms)
        else:
            events = engine.move_to(moment(str(body.to)))
    moved_ms = engine.now_ms() - before_ms
    return {**clock_view(engine), "moved_ms": moved_ms, "events_run": events}


def _advance_until(engine: Engine, operation_id: str) -> int:
    events = 0
    for _ in range(_MOST_STEPS):
        if finished(_find_operation(engine, operation_id)):
            return events
        due_ms = engine.due_of(operation_id)
        if due_ms is None:
            raise ControlRefusal(
                409,
                "Nothing is scheduled",
                f"operation {operation_id} does not move with time (it is stuck, its profile is "
                f"manual or per_poll, or what it waits for is so): release or step it instead",
            )
        events += engine.move_up_to(due_ms)
    raise ControlRefusal(409, "Too long", "the operation did not end within a million steps")


# --- operations ----------------------------------------------------------------------------------


def list_operations(engine: Engine, unfinished: bool = False) -> list[dict[str, Any]]:
    """List operations, oldest first; with `unfinished` only those that have not ended."""
    engine.run_due()
    rows = operations_in_order(engine, unfinished=unfinished)
    fields = ("phase", "stuck", "created_at", "updated_at")
    return [
        {**operation_view(engine.world, row), **{name: getattr(row, name) for name in fields}}
        for row in rows
    ]


def operations_in_order(engine: Engine, *, unfinished: bool) -> list[Operation]:
    """Return operations, oldest first; with `unfinished` those that have not ended."""
    rows = (row for _, row in engine.world.rows(OPERATIONS) if not (unfinished and finished(row)))
    return sorted(rows, key=lambda operation: (operation.created_ms, operation.id))


def _find_operation(engine: Engine, operation_id: str) -> Operation:
    detail = f"this world has no operation {operation_id[:40]!r}"
    return found(engine.world.get(OPERATIONS, operation_id), "No such operation", detail)


def why_operation(context: Context, engine: Engine, operation: str) -> dict[str, Any] | None:
    """Explain an operation's state, what happens next and how to move it on."""
    engine.run_due()
    _find_operation(engine, operation)
    return context.why(engine, operation)


def step_operation(engine: Engine, operation: str) -> dict[str, Any]:
    """Take an operation's next step now, and return it as the public API does."""
    from hosting_emulator.interventions import read_intervention

    now_ms = engine.run_due()
    _find_operation(engine, operation)
    change, document = Change(engine.world, now_ms), {"step_operation": {"operation": operation}}
    with refused_as(409, "Operation not stepped", DocumentRefused):
        read_intervention(document).apply(change)
    shown = views.operation(change, change.row(OPERATIONS, operation))
    engine.commit(change, "operation stepped", {"intervene": document})
    return shown
