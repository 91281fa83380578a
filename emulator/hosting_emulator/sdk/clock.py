"""A world's clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from hosting_emulator import messages
from hosting_emulator.sdk.operations import OperationLike, id_of_operation
from hosting_emulator.sdk.transport import without_none
from hosting_emulator.sdk.world_handle import WorldHandle

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

Duration: TypeAlias = str | timedelta | float
"""A span of world time: a string such as `10m`, `1h30m` or `PT10M`, a timedelta, or seconds."""


def duration_text(span: Duration) -> str:
    """Convert a span to the form that the control API accepts, rounded to milliseconds.

    Raises ValueError if the span is negative or infinite. A string is returned unchanged, because
    the control API checks it.
    """
    if isinstance(span, str):
        return span
    ms = span / timedelta(milliseconds=1) if isinstance(span, timedelta) else span * 1000
    if not 0 <= ms < float("inf"):
        raise ValueError(f"{span!r} is not a span: use a finite span that is not negative")
    return f"{round(ms)}ms"


class WorldClock(WorldHandle):
    """A world's clock, which you can only move forward. When time advances, all due events happen."""

    @property
    def state(self) -> messages.ClockState:
        """The complete current state of the clock."""
        return self._fetch(messages.ClockState, "GET", "clock")

    @property
    def now(self) -> str:
        """The current world time as an RFC 3339 timestamp in UTC."""
        return self.state.now

    @property
    def mode(self) -> messages.ClockMode:
        """The clock's mode: `real`, `frozen`, `scaled` or `skip`."""
        return self.state.mode

    @property
    def next_due_at(self) -> str | None:
        """When the next event is due, as an RFC 3339 timestamp, or None if no event is scheduled."""
        return self.state.next_due_at

    def advance(self, by: Duration) -> str:
        """Advance time by a span, rounded to milliseconds. Returns the new time.

        Raises ValueError if the span is negative or infinite, or ControlRefused if it is an invalid
        string.
        """
        return self.move(by=duration_text(by)).now

    def advance_to(self, moment: str | datetime) -> str:
        """Advance time to an RFC 3339 timestamp or a datetime. Returns the new time.

        Raises ValueError if a datetime has no time zone, or ControlRefused (409) if the time is in
        the past.
        """
        if isinstance(moment, datetime):
            if moment.tzinfo is None:
                raise ValueError(f"{moment!r} has no time zone: give it one, such as datetime.UTC")
            moment = moment.isoformat()
        return self.move(to=moment).now

    def until(self, operation: OperationLike) -> str:
        """Advance time until an operation ends, and return the operation's final state.

        Raises ControlRefused (409) if the operation does not end just because time passes, for
        example because it is stuck or waiting for a manual step.
        """
        id_ = id_of_operation(operation)
        self.move(until_operation=id_)
        return self._fetch(messages.Why, "GET", "operations", id_, "why").state

    def move(
        self, *, by: str | None = None, to: str | None = None, until_operation: str | None = None
    ) -> messages.ClockMove:
        """Advance time, as specified by exactly one argument, and return the clock's new state.

        `by` is a span, `to` is an RFC 3339 timestamp, and `until_operation` is the id of an
        operation: time advances until it ends.
        """
        body = without_none(by=by, to=to, until_operation=until_operation)
        return self._fetch(messages.ClockMove, "POST", "clock", "advance", body=body)

    def freeze(self) -> messages.ClockState:
        """Stop the clock. Time then advances only when you advance it explicitly."""
        return self.set("frozen")

    def run(self) -> messages.ClockState:
        """Make the clock run at real speed."""
        return self.set("real")

    def skip(self) -> messages.ClockState:
        """Make each poll of an unfinished operation advance the clock to the operation's next event."""
        return self.set("skip")

    def scale(self, rate: float) -> messages.ClockState:
        """Make the clock run at `rate` world seconds per real second. `rate` must be greater than 0."""
        return self.set("scaled", rate=rate)

    def set(self, mode: messages.ClockMode, *, rate: float | None = None) -> messages.ClockState:
        """Set the clock's mode to `real`, `frozen` or `skip`, or to `scaled` with a rate."""
        return self.change({"mode": mode} if rate is None else {"mode": mode, "rate": rate})

    def change(self, clock: messages.ClockRequest) -> messages.ClockState:
        """Change the clock's mode, rate or time, and return its new state.

        Raises ControlRefused (409) if the time is in the past.
        """
        return self._fetch(messages.ClockState, "PUT", "clock", body=clock)
