"""A world that lives: the current value, its time, and the way from one commit to the next.

No `await` stands between reading the world and swapping it, so there are no locks and two
concurrent requests are always one after the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec.structs import replace

from hosting_emulator.contract.words import DocumentRefused
from hosting_emulator.engine.events import Feed
from hosting_emulator.engine.history import Commit, History, SavedState
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.tally import Tally
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.operations import event_of, run_due
from hosting_emulator.world.records import ClockRecord
from hosting_emulator.world.tables import CLOCK, ONLY, OPERATIONS, SCHEDULE, TIMELINE
from hosting_emulator.world.value import Change, World, apply


class Keeper:
    """Keeps one world's commits: this one in memory only. What it cannot keep raises OSError.

    `starts` is 0 in the process that made the world, and one more each time it is read back;
    `shown_ms` is the last moment that anybody was shown before;
    `waits` says that an answer has to wait for what `durable` returns.
    """

    starts = 0
    waits = False
    shown_ms = 0

    def append(self, commit: Commit) -> None:
        """Keep a commit."""

    def replace(self, world: World) -> None:
        """Keep a whole world in place of everything before."""

    def show(self, at_ms: int) -> None:
        """Keep in mind that a moment was shown."""

    def durable(self) -> Awaitable[None] | None:
        """Return what to await before an answer may say that all so far is kept; None: nothing."""
        return None

    def discard(self) -> None:
        """Forget the world."""


class Memory(Keeper):
    """Keeps nothing beyond the process: for ephemeral worlds."""


class StoreFailed(Exception):
    """A change could not be kept, so it was not made; the message says what went wrong."""


def anchored(world: World, world_ms: int, machine_ms: int) -> World:
    """Return a world whose scaled clock runs on from `world_ms`; the other modes know their time."""
    if world.clock.mode != "scaled":
        return world
    clock = replace(world.clock, world_ms=world_ms, machine_ms=machine_ms)
    return apply(world, {CLOCK.name: {ONLY: clock}}, commit=world.commit, at_ms=world.at_ms)


class LiveWorld:
    """One world, its clock and its keeper. Knows nothing of requests."""

    def __init__(
        self,
        world: World,
        keeper: Keeper,
        machine: Callable[[], int] = machine_ms,
        tally: Tally | None = None,
    ) -> None:
        self.world = world
        self.keeper = keeper
        self.history = History()
        self.history.append(Commit("began", {}, world, world))
        self.tally = tally or Tally()
        #: What happens here, told to whoever listens.
        self.feed = Feed(machine() * 1000)
        #: Where commits are noted, as long as an exchange runs: they are its.
        self.noted: list[Commit] | None = None
        self._read_machine, self._ahead_ms = machine, 0
        self._shown_ms = keeper.shown_ms
        #: What the machine's clock showed when it was last read.
        self.machine_ms = 0

    # --- time -----------------------------------------------------------------------------------

    def pass_over(self, ms: int) -> None:
        """Go on as if so many real milliseconds had passed, without waiting for them."""
        self._ahead_ms += ms

    def _machine(self) -> int:
        return self._read_machine() + self._ahead_ms

    def now_ms(self) -> int:
        """World time, in milliseconds since 1970. It never goes back, even if the machine's does."""
        world = self.world
        self.machine_ms = machine_ms = self._read_machine() + self._ahead_ms
        now_ms = max(world.at_ms, self._shown_ms, clocks.read(world.clock, machine_ms))
        if now_ms != self._shown_ms:
            self._shown_ms = now_ms
            self.keeper.show(now_ms)
        return now_ms

    def run_due(self) -> int:
        """Run what is due and return world time."""
        now_ms = self.now_ms()
        schedule = self.world.schedule
        if schedule and schedule[0][0] <= now_ms:
            found = run_due(self.world, now_ms, carry_out)
            if found is not None:
                self.commit(found[0], "due events")
        return now_ms

    # --- commits --------------------------------------------------------------------------------

    def begin_change(self) -> Change:
        """Return a change that is made now, of the world as it is once all that is due has run."""
        now_ms = self.run_due()
        return Change(self.world, now_ms)

    def commit(self, change: Change, title: str, turn: Mapping[str, Any] | None = None) -> None:
        """Accept a change: keep it, then swap the world. Raises StoreFailed, changing nothing.

        `turn` is what a hand did to make it, as a step of a story says it.
        """
        writes, before = change.writes, change.world
        assert before is self.world, f"{title}: the world changed in the meantime"
        if not any(writes.values()):
            return
        at_ms = max(before.at_ms, change.now_ms)
        world = apply(before, writes, commit=before.commit + 1, at_ms=at_ms)
        commit = Commit(title, writes, before, world, tuple(change.entered), turn)
        try:
            self.keeper.append(commit)
        except OSError as error:
            raise StoreFailed(
                f"the change could not be saved: {error.strerror or error}"
            ) from error
        self.world = world
        self.history.append(commit)
        self.tally.commits += 1
        if self.noted is not None:
            self.noted.append(commit)
        if self.feed.awake:
            self.feed.committed(title, writes, world)

    def replace_world(
        self, world: World, title: str = "replaced", restored: SavedState | None = None
    ) -> None:
        """Put another world in place of this one: a reset, an import, or a state restored.

        Raises StoreFailed.
        """
        try:
            self.keeper.replace(world)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        self.history.replace(Commit(title, {}, self.world, world, restored=restored))
        self.world = world
        self._shown_ms = 0

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
        if (event := event_of(Change(world, world.at_ms), operation)) is not None:
            return event.due_ms
        # What the timeline does next may set an operation going that stands still.
        planned = [e.due_ms for _, e in world.rows(SCHEDULE) if e.kind == "timeline"]
        return min(planned, default=None)

    def move_to(self, at_ms: int | None, mode: str | None = None, rate: float | None = None) -> int:
        """Move world time forward and run what comes due; returns the number of events.

        What is None stays as it is. Raises ClockRefused, also when `at_ms` lies in the past.
        """
        return self._move(self.run_due(), at_ms, mode, rate)

    def move_by(self, by_ms: int) -> int:
        """Move world time forward by this much. Raises ClockRefused past the year 9999."""
        now_ms = self.run_due()
        return self._move(now_ms, now_ms + by_ms)

    def move_up_to(self, due_ms: int) -> int:
        """Move world time forward to a moment, unless time has passed it by itself."""
        now_ms = self.run_due()
        return self._move(now_ms, max(due_ms, now_ms))

    def _move(
        self, now_ms: int, at_ms: int | None, mode: str | None = None, rate: float | None = None
    ) -> int:
        clock = clocks.change(
            self.world.clock, now_ms, self._machine(), mode=mode, rate=rate, at_ms=at_ms
        )
        return self.set_clock(clock)

    def set_clock(self, clock: ClockRecord) -> int:
        """Give the world another clock, and run what is due by it, in one commit."""
        found = run_due(self.world, clock.world_ms, carry_out)
        change, count = found or (Change(self.world, self.world.at_ms), 0)
        change.now_ms = max(change.now_ms, clock.world_ms)
        change.put(CLOCK, ONLY, clock)
        self.commit(change, "clock")
        return count


# --- the timeline: faults and interventions that a scenario planned ---------------------------------


def carry_out(change: Change, key: str) -> None:
    """Do what an entry of the timeline says, and note in it what came of that.

    What makes no sense any more (an operation that has ended, say) is noted, not raised: time goes
    on. History, events and report tell of it, and a story fails.
    """
    # Imported here: only a world with a timeline needs to read faults and interventions.
    from hosting_emulator.faults.documents import FAULT, OUTCOME, arm
    from hosting_emulator.interventions import read_intervention

    planned, refused = change.row(TIMELINE, key), False
    attempt = change.fork()
    try:
        if planned.action == "intervene":
            said = read_intervention(planned.document).apply(attempt)
        else:
            family = FAULT if planned.action == "fault" else OUTCOME
            said = f"{arm(attempt, planned.document, family).id} was armed"
        change.take(attempt)
    except DocumentRefused as error:
        said, refused = f"{next(iter(planned.document))} was refused: {error}", True
    change.put(TIMELINE, key, replace(planned, done=True, said=said, refused=refused))


def count_call(change: Change, call_id: str) -> None:
    """Count a successful call for the entries that wait for it, and carry out those it completes."""
    waiting = sorted(
        (
            (planned.order, key)
            for key, planned in change.world.rows(TIMELINE)
            if not planned.done and planned.after_calls and planned.call in (None, call_id)
        ),
    )
    for _, key in waiting:
        planned = change.row(TIMELINE, key)
        left = (planned.after_calls or 1) - 1
        change.put(TIMELINE, key, replace(planned, after_calls=left))
        if left == 0:
            carry_out(change, key)
