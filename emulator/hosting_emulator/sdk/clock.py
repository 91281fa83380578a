"""The clock of a world."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from hosting_emulator import messages
from hosting_emulator.sdk.operations import OperationLike, id_of_operation
from hosting_emulator.sdk.transport import without_none
from hosting_emulator.sdk.world_handle import WorldHandle

#: pytest shows the line of the test instead of the lines of this module.
__tracebackhide__ = True

Duration: TypeAlias = str | timedelta | float
"""A span of world time: a string such as `10m`, `1h30m` or `PT10M`, a timedelta, or seconds."""


def duration_text(span: Duration) -> str:
    """Return a span as the control API reads it, rounded to milliseconds.

    Raises ValueError for a negative or infinite span. A string is returned unchanged, because the
    control API checks it.
    """
    if isinstance(span, str):
        return span
    ms = span / timedelta(milliseconds=1) if isinstance(span, timedelta) else span * 1000
    if not 0 <= ms < float("inf"):
        raise ValueError(f"{span!r} is not a span: use a finite span that is not negative")
    return f"{round(ms)}ms"


class WorldClock(WorldHandle):
    """A world's clock, which can only move forward. When time moves, all due events happen."""

    @property
    def state(self) -> messages.ClockState:
        """The clock's full current state."""
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
        """The RFC 3339 timestamp at which the next event is due, or None if no event is scheduled."""
        return self.state.next_due_at

    def advance(self, by: Duration) -> str:
        """Move time forward by a span, rounded to milliseconds. Return the new time.

        Raises ValueError for a negative or infinite span, and ControlRefused for a string that is
        not a valid span.
        """
        return self.move(by=duration_text(by)).now

    def advance_to(self, moment: str | datetime) -> str:
        """Move time forward to an RFC 3339 timestamp or a datetime, and return the new time.

        Raises ValueError for a datetime without a time zone, and ControlRefused (409) for a time in
        the past.
        """
        if isinstance(moment, datetime):
            if moment.tzinfo is None:
                raise ValueError(f"{moment!r} has no time zone: give it one, such as datetime.UTC")
            moment = moment.isoformat()
        return self.move(to=moment).now

    def until(self, operation: OperationLike) -> str:
        """Move time forward until an operation ends, and return the operation's final state.

        Raises ControlRefused (409) if time alone cannot end the operation, for example because the
        operation is stuck or waits for a manual step.
        """
        id_ = id_of_operation(operation)
        self.move(until_operation=id_)
        return self._fetch(messages.Why, "GET", "operations", id_, "why").state

    def move(
        self, *, by: str | None = None, to: str | None = None, until_operation: str | None = None
    ) -> messages.ClockMove:
        """Move time forward, as specified by exactly one argument, and return the clock's new state.

        `by` is a span, `to` is an RFC 3339 timestamp, and `until_operation` is the id of an
        operation that must end.
        """
        body = without_none(by=by, to=to, until_operation=until_operation)
        return self._fetch(messages.ClockMove, "POST", "clock", "advance", body=body)

    def freeze(self) -> messages.ClockState:
        """Stop the clock. Time then moves only when a caller advances the clock."""
        return self.set("frozen")

    def run(self) -> messages.ClockState:
        """Run the clock at real speed from now on."""
        return self.set("real")

    def skip(self) -> messages.ClockState:
        """Let each poll of an unfinished operation move the clock to the operation's next event."""
        return self.set("skip")

    def scale(self, rate: float) -> messages.ClockState:
        """Run the clock at `rate` world seconds per real second. `rate` must be greater than 0."""
        return self.set("scaled", rate=rate)

    def set(self, mode: messages.ClockMode, *, rate: float | None = None) -> messages.ClockState:
        """Change the clock's mode to `real`, `frozen` or `skip`, or to `scaled` with a rate."""
        return self.change({"mode": mode} if rate is None else {"mode": mode, "rate": rate})

    def change(self, clock: messages.ClockRequest) -> messages.ClockState:
        """Change the clock's mode, rate or time, and return its new state.

        Raises ControlRefused (409) for a time in the past.
        """
        return self._fetch(messages.ClockState, "PUT", "clock", body=clock)
