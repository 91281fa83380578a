"""World time, in a test's hands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hosting_emulator.control_api import ClockMode, ClockMove, ClockRequest, ClockState
from hosting_emulator.sdk.control import given

if TYPE_CHECKING:
    from hosting_emulator.sdk.emulator import HostingEmulator

Duration = str | timedelta | float
"""A span of world time: text such as `10m`, `1h30m` or `PT10M`, a timedelta, or seconds."""
OperationLike = str | Mapping[str, Any]
"""An operation's id, or its document as a call answered it."""


class WorldClock:
    """A world's clock. Time only moves forward, and everything that falls due happens."""

    def __init__(self, emulator: HostingEmulator) -> None:
        self._emulator = emulator

    def __repr__(self) -> str:
        return f"<WorldClock of {self._emulator.name!r}>"

    # --- Reading -----------------------------------------------------------------------------

    @property
    def state(self) -> ClockState:
        """The clock's full current state."""
        return ClockState(self._emulator.control.get(self._emulator.control_path("clock")))

    @property
    def now(self) -> str:
        """World time, as an RFC 3339 timestamp in UTC."""
        return self.state.now

    @property
    def mode(self) -> ClockMode:
        """`real`, `frozen`, `scaled` or `skip`."""
        return self.state.mode

    @property
    def next_due_at(self) -> str | None:
        """When the next event is due, as an RFC 3339 timestamp; None if nothing is."""
        return self.state.next_due_at

    # --- Moving ------------------------------------------------------------------------------

    def advance(self, by: Duration) -> str:
        """Move time forward by a duration, and return the new time.

        `by` is text such as `10m`, `90d` or `PT10M`, a timedelta, or seconds. To the millisecond.
        Raises ValueError for a negative span, ControlRefused for text that is no span.
        """
        return self.move(by=_duration_text(by)).now

    def advance_to(self, moment: str | datetime) -> str:
        """Move time forward to a time, and return it.

        `moment` is an RFC 3339 timestamp or a datetime with a time zone (ValueError without one).
        Raises ControlRefused (409) for a moment that is past.
        """
        return self.move(to=_timestamp_text(moment)).now

    def until(self, operation: OperationLike) -> str:
        """Move time forward until an operation ends, and return its final state.

        `operation` is its id, or its document as the call answered it. Raises ControlRefused (409)
        when time alone does not end it: it is stuck, or waits to be told.
        """
        self.move(until_operation=id_of(operation))
        return self._emulator.why(operation).state

    def move(
        self, *, by: str | None = None, to: str | None = None, until_operation: str | None = None
    ) -> ClockMove:
        """Move time forward in one of these ways, as text, and return the clock as it is then."""
        path = self._emulator.control_path("clock", "advance")
        body = given(by=by, to=to, until_operation=until_operation)
        return ClockMove(self._emulator.control.post(path, body))

    # --- Changing how it runs ----------------------------------------------------------------

    def freeze(self) -> ClockState:
        """Freeze the clock until it is moved."""
        return self.set("frozen")

    def run(self) -> ClockState:
        """Run at real speed from now on."""
        return self.set("real")

    def skip(self) -> ClockState:
        """Jump to the next event whenever a client polls an unfinished operation."""
        return self.set("skip")

    def scale(self, rate: float) -> ClockState:
        """Run at `rate` world seconds for each real second, above 0."""
        return self.set("scaled", rate=rate)

    def set(self, mode: ClockMode, *, rate: float | None = None) -> ClockState:
        """Change the mode: `real`, `frozen`, `skip`, or `scaled` with a rate."""
        return self.change({"mode": mode} if rate is None else {"mode": mode, "rate": rate})

    def change(self, clock: ClockRequest) -> ClockState:
        """Change mode, rate or time, and return the clock. Moving back is a ControlRefused (409)."""
        return ClockState(self._emulator.control.put(self._emulator.control_path("clock"), clock))


def _duration_text(span: Duration) -> str:
    if isinstance(span, str):
        return span
    ms = span / timedelta(milliseconds=1) if isinstance(span, timedelta) else span * 1000
    if not 0 <= ms < float("inf"):
        raise ValueError(f"time moves forward only, and not forever: {span!r}")
    return f"{round(ms)}ms"


def _timestamp_text(moment: str | datetime) -> str:
    if isinstance(moment, str):
        return moment
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone: give it one, such as datetime.UTC")
    return moment.isoformat()


def id_of(operation: OperationLike) -> str:
    """Return an operation's id. Raises ValueError for a document without one."""
    if isinstance(operation, str):
        return operation
    found = operation.get("id")
    if not isinstance(found, str):
        what = operation.get("code") or f"it has {', '.join(map(str, operation)) or 'nothing'}"
        raise ValueError(f"this is not an operation, because it has no id: {what}")
    return found
