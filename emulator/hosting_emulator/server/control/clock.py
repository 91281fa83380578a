"""Control of a world's clock, and of operations that wait to be told."""

from __future__ import annotations

from typing import Any

import msgspec
from aiohttp import web

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.views import clock_view
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import operations, views
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS
from hosting_emulator.world.value import Change

#: More steps than any queue of operations that a test could want.
_MOST_STEPS = 1_000_000


class ClockChange(msgspec.Struct, forbid_unknown_fields=True):
    """Body of `PUT …/clock`: what is left out stays."""

    mode: str | None = None
    rate: float | None = None
    at: str | None = None


class Advance(msgspec.Struct, forbid_unknown_fields=True):
    """Body of `POST …/clock/advance`: exactly one of the three."""

    by: str | None = None
    to: str | None = None
    until_operation: str | None = None


async def get_clock(context: Context, world: str) -> web.Response:
    """GET …/clock."""
    return answers.json(clock_view(context.engine(world)))


async def put_clock(context: Context, world: str) -> web.Response:
    """PUT …/clock. Moving back is refused."""
    engine = context.engine(world)
    asked = await context.read(ClockChange)
    at_ms = None if asked.at is None else _moment(asked.at)
    try:
        engine.move_to(at_ms, asked.mode, asked.rate)
    except clocks.ClockRefused as error:
        raise ControlRefused(
            409 if at_ms is not None else 400, "Clock refused", str(error)
        ) from None
    return answers.json(clock_view(engine))


async def advance_clock(context: Context, world: str) -> web.Response:
    """POST …/clock/advance: by a duration, to a moment, or until an operation has ended."""
    engine = context.engine(world)
    asked = await context.read(Advance)
    given = [value for value in (asked.by, asked.to, asked.until_operation) if value is not None]
    if len(given) != 1:
        raise ControlRefused(400, "Bad request", "give exactly one of by, to and until_operation")
    before_ms = engine.settle()
    try:
        if asked.until_operation is not None:
            events = _until(engine, asked.until_operation)
        elif asked.by is not None:
            events = engine.move_by(_duration(asked.by))
        else:
            events = engine.move_to(_moment(str(asked.to)))
    except clocks.ClockRefused as error:
        raise ControlRefused(409, "Clock refused", str(error)) from None
    moved_ms = engine.now_ms() - before_ms
    return answers.json({**clock_view(engine), "moved_ms": moved_ms, "events_run": events})


def _moment(text: str) -> int:
    try:
        return parse_timestamp(text)
    except ValueError as error:
        raise ControlRefused(400, "Bad timestamp", str(error)) from None


def _duration(text: str) -> int:
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        raise ControlRefused(400, "Bad duration", str(error)) from None


def _operation(engine: Engine, operation_id: str) -> Operation:
    operation = engine.world.get(OPERATIONS, operation_id)
    if operation is None:
        raise ControlRefused(
            404, "No such operation", f"this world has no operation {operation_id[:40]!r}"
        )
    return operation


def _until(engine: Engine, operation_id: str) -> int:
    events = 0
    for _ in range(_MOST_STEPS):
        if operations.finished(_operation(engine, operation_id)):
            return events
        due_ms = engine.due_of(operation_id)
        if due_ms is None:
            raise ControlRefused(
                409,
                "Nothing is scheduled",
                f"operation {operation_id} does not move with time (it is stuck, its profile is "
                f"manual or per_poll, or what it waits for is so): release or step it instead",
            )
        events += engine.move_up_to(due_ms)
    raise ControlRefused(409, "Too long", "the operation did not end within a million steps")


async def step_operation(context: Context, world: str, operation: str) -> web.Response:
    """POST …/operations/{operation}/step: take the next step of its plan now."""
    engine = context.engine(world)
    now_ms = engine.settle()
    found = _operation(engine, operation)
    change = Change(engine.world, now_ms)
    claim = change.row(PROJECTS, found.project_id).claim
    if operations.finished(found):
        raise ControlRefused(409, "Operation ended", f"the operation is {found.state} already")
    if claim != found.id:
        raise ControlRefused(
            409, "Operation waits", f"operation {claim} holds the project's claim; step that first"
        )
    if found.stuck:
        raise ControlRefused(409, "Operation stuck", "the operation is stuck; release it first")
    stepped = operations.step(change, found.id)
    shown: dict[str, Any] = views.operation(change, stepped)
    engine.commit(change, "operation stepped")
    return answers.json(shown)
