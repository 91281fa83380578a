"""A world that lives: the current value, its time, and the way from one commit to the next.

No `await` stands between reading the world and swapping it, so there are no locks and two
concurrent requests are always one after the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from hosting_emulator.engine.commits import Commit, Keeper
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.timeline import carry_out
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.schedule import run_due
from hosting_emulator.world.tables import CLOCK, ONLY, OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change, World


class StoreFailed(Exception):
    """A change could not be kept, so it was not made; the message says what went wrong."""


class LiveWorld:
    """One world, its clock and its keeper. Knows nothing of requests."""

    def __init__(
        self, world: World, keeper: Keeper, machine: Callable[[], int] = machine_ms
    ) -> None:
        self.world = world
        self.keeper = keeper
        self._machine = machine

    # --- time -----------------------------------------------------------------------------------

    def machine_ms(self) -> int:
        """The machine's time, as this engine sees it."""
        return self._machine()

    def now_ms(self) -> int:
        """World time, in milliseconds since 1970. It never goes back."""
        world = self.world
        return max(world.at_ms, clocks.read(world.clock, self._machine()))

    def settle(self) -> int:
        """Run what is due and return world time."""
        now_ms = self.now_ms()
        due = self.world.next_due_ms
        if due is not None and due <= now_ms:
            self._run_due(now_ms)
        return now_ms

    def _run_due(self, now_ms: int) -> int:
        found = run_due(self.world, now_ms, carry_out)
        if found is None:
            return 0
        change, count = found
        self.commit(change, "due events")
        return count

    # --- commits --------------------------------------------------------------------------------

    def commit(self, change: Change, title: str) -> None:
        """Accept a change: keep it, then swap the world. Raises StoreFailed, changing nothing."""
        if change.empty:
            return
        world = change.applied()
        try:
            self.keeper.append(Commit(world.commit, world.at_ms, title, change.writes), world)
        except OSError as error:
            raise StoreFailed(f"the change could not be kept: {error.strerror or error}") from error
        self.world = world

    def replace_world(self, world: World) -> None:
        """Put another world (a reset or an import) in place of this one. Raises StoreFailed."""
        try:
            self.keeper.replace(world)
        except OSError as error:
            raise StoreFailed(f"the world could not be kept: {error.strerror or error}") from error
        self.world = world

    def durable(self) -> Awaitable[None] | None:
        """Return what to await before an answer leaves; None: nothing."""
        return self.keeper.durable()

    # --- moving time ----------------------------------------------------------------------------

    def due_of(self, operation_id: str) -> int | None:
        """When an operation (or the one it waits for) takes its next step; None: nothing is scheduled."""
        world = self.world
        operation = world.get(OPERATIONS, operation_id)
        if operation is None:
            return None
        event_key = operation.event
        if event_key is None:
            project = world.get(PROJECTS, operation.project_id)
            holder = world.get(OPERATIONS, project.claim) if project and project.claim else None
            event_key = holder.event if holder else None
        event = world.get(SCHEDULE, event_key) if event_key else None
        return event.due_ms if event else None

    def move_to(self, at_ms: int) -> int:
        """Move world time forward and run what comes due; returns the number of events.

        Raises ClockRefused when `at_ms` lies in the past.
        """
        now_ms = self.settle()
        clock = clocks.change(self.world.clock, now_ms, self._machine(), at_ms=at_ms)
        count = self._run_due(at_ms)
        self.set_clock(clock)
        return count

    def set_clock(self, clock: Any) -> None:
        """Give the world another clock."""
        change = Change(self.world, max(self.world.at_ms, clock.world_ms))
        change.put(CLOCK, ONLY, clock)
        self.commit(change, "clock")
