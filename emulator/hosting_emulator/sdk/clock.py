"""The clock of a world."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from hosting_emulator import messages
from hosting_emulator.sdk.operations import OperationLike, id_of_operation
from hosting_emulator.sdk.transport import without_none
from hosting_emulator.sdk.world_handle import WorldHandle

Duration: TypeAlias = str | timedelta | float
"""A span of world time: a string such as `10m`, `1h30m` or `PT10M`, a timedelta, or seconds."""


class WorldClock(WorldHandle):
    """A world's clock. Time only moves forward, and all due events happen."""

    @property
    def state(self) -> messages.ClockState:
        """The clock's full current state."""
        return self._fetch(messages.ClockState, "GET", "clock")

    @property
    def now(self) -> str:
        """World time as an RFC 3339 timestamp in UTC."""
        return self.state.now

    @property
    def mode(self) -> messages.ClockMode:
        """`real`, `frozen`, `scaled` or `skip`."""
        return self.state.mode

    @property
    def next_due_at(self) -> str | None:
        """The RFC 3339 timestamp at which the next event is due, or None if no event is scheduled."""
        return self.state.next_due_at

    def advance(self, by: Duration) -> str:
        """Move time forward, to the millisecond, and return the new time.

        Raises ValueError for a negative span, and ControlRefused for a string that is not a span.
        """
        if isinstance(by, str):
            return self.move(by=by).now
        ms = by / timedelta(milliseconds=1) if isinstance(by, timedelta) else by * 1000
        if not 0 <= ms < float("inf"):
            raise ValueError(f"time moves forward only, and not forever: {by!r}")
        return self.move(by=f"{round(ms)}ms").now

    def advance_to(self, moment: str | datetime) -> str:
        """Move time forward to an RFC 3339 timestamp or a datetime, and return it.

        Raises ValueError for a datetime without a time zone, and ControlRefused (409) for a past
        time.
        """
        if isinstance(moment, datetime):
            if moment.tzinfo is None:
                raise ValueError(f"{moment!r} has no time zone: give it one, such as datetime.UTC")
            moment = moment.isoformat()
        return self.move(to=moment).now

    def until(self, operation: OperationLike) -> str:
        """Move time forward until an operation ends, and return its final state.

        Raises ControlRefused (409) if time alone does not end the operation, because it is stuck or
        waits for a manual step.
        """
        id_ = id_of_operation(operation)
        self.move(until_operation=id_)
        return self._fetch(messages.Why, "GET", "operations", id_, "why").state

    def move(
        self, *, by: str | None = None, to: str | None = None, until_operation: str | None = None
    ) -> messages.ClockMove:
        """Move time forward in one of these ways, and return the new state of the clock."""
        body = without_none(by=by, to=to, until_operation=until_operation)
        return self._fetch(messages.ClockMove, "POST", "clock", "advance", body=body)

    def freeze(self) -> messages.ClockState:
        """Freeze the clock until it is advanced."""
        return self.set("frozen")

    def run(self) -> messages.ClockState:
        """Run the clock at real speed from now on."""
        return self.set("real")

    def skip(self) -> messages.ClockState:
        """Jump to the next event whenever a client polls an unfinished operation."""
        return self.set("skip")

    def scale(self, rate: float) -> messages.ClockState:
        """Run the clock at `rate` world seconds per real second. `rate` is greater than 0."""
        return self.set("scaled", rate=rate)

    def set(self, mode: messages.ClockMode, *, rate: float | None = None) -> messages.ClockState:
        """Change the mode: `real`, `frozen`, `skip`, or `scaled` with a rate."""
        return self.change({"mode": mode} if rate is None else {"mode": mode, "rate": rate})

    def change(self, clock: messages.ClockRequest) -> messages.ClockState:
        """Change mode, rate or time, and return the clock. Moving back raises ControlRefused (409)."""
        return self._fetch(messages.ClockState, "PUT", "clock", body=clock)
