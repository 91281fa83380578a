"""Control of a world's clock."""

from __future__ import annotations

import msgspec
from aiohttp import web

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.operations import find_operation
from hosting_emulator.server.control.views import clock_view
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import operations

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
    before_ms = engine.run_due()
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


def _until(engine: Engine, operation_id: str) -> int:
    events = 0
    for _ in range(_MOST_STEPS):
        if operations.finished(find_operation(engine, operation_id)):
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
