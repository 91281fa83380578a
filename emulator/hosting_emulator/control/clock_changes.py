"""Endpoints that change a world's clock or advance its time."""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import asdict

from hosting_emulator import messages
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.control.clock import get_clock
from hosting_emulator.control.operation_names import require_operation
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.explanations.operations import standstill
from hosting_emulator.http.endpoint import (
    Body,
    ControlRefusal,
    Duration,
    Example,
    Mode,
    Timestamp,
    moment,
    refused_as,
)
from hosting_emulator.world.clock import ClockRefused, TimeHasPassed


class ClockChange(Body):
    """The clock's new settings. Settings that are omitted do not change.

    `rate` is the number of world seconds per real second.
    """

    mode: Mode | None = None
    rate: float | None = None
    at: Timestamp | None = None


class Advance(Body):
    """How far to advance the clock. Exactly one member is required.

    `by` is a duration, such as `10m` or `90d`. `to` is a timestamp. `until_operation` is the id of
    an operation: time advances until it ends.
    """

    by: Duration | None = None
    to: Timestamp | None = None
    until_operation: str | None = None


def put_clock(
    engine: Engine, body: Annotated[ClockChange, Example({"mode": "frozen"})]
) -> messages.ClockState:
    """Change a clock's mode, rate or time. Moving time back is refused (409)."""
    at_ms = None
    if body.at is not None:
        at_ms = moment(body.at)
    with (
        refused_as(400, "Clock refused", ClockRefused),
        refused_as(409, "Clock refused", TimeHasPassed),
    ):
        engine.move_to(at_ms, body.mode, body.rate)
    return get_clock(engine)


def advance_clock(
    engine: Engine, body: Annotated[Advance, Example({"by": "10m"})]
) -> messages.ClockMove:
    """Advance time by a duration, to a timestamp, or until an operation ends, and run all due events."""
    destinations = [body.by, body.to, body.until_operation]
    if destinations.count(None) != len(destinations) - 1:
        raise ControlRefusal(400, "Bad request", "give exactly one of by, to and until_operation")
    before_ms = engine.run_due()
    with refused_as(409, "Clock refused", ClockRefused):
        events_run = _advance(engine, body)
    moved_ms = engine.now_ms() - before_ms
    clock = get_clock(engine)
    return messages.ClockMove(**asdict(clock), moved_ms=moved_ms, events_run=events_run)


def _advance(engine: Engine, body: Advance) -> int:
    """Advance time, and return how many events ran.

    Raises ControlRefusal if the request is invalid, or ClockRefused if the clock cannot be moved.
    """
    if body.until_operation is not None:
        return _advance_until(engine, body.until_operation)
    if body.by is None:
        return engine.move_to(moment(str(body.to)))
    with refused_as(400, "Bad duration", ValueError):
        by_ms = parse_duration_ms(body.by)
    return engine.move_by(by_ms)


def _advance_until(engine: Engine, operation_id: str) -> int:
    """Advance time until an operation ends, and return how many events ran.

    Raises ControlRefusal 404 if there is no such operation, or 409 if it does not end no matter how
    far time advances.
    """
    require_operation(engine.world, operation_id)
    events_run = engine.move_until_ended(operation_id)
    if events_run is None:
        raise ControlRefusal(409, "Nothing is scheduled", standstill(engine, operation_id))
    return events_run
