"""The state after a run: the state before the run, and the changes in all worlds that the run used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from datetime import datetime, timedelta
from typing import Any

from hosting_emulator.messages import ChapterReport, ClockState
from hosting_emulator.sdk import HostingEmulator, JsonObject, WorldsObservation
from hosting_emulator_lab.judge.world_summary import StateRows, summarize

#: The modes of a clock that moves with real time. Runs take different times, so their states are
#: compared at the same moment of world time.
_RUNNING_CLOCKS = ("real", "scaled")
#: The moment at which states are compared, in world time after the beginning of the run.
_SETTLING_TIME = timedelta(hours=1)


class WorldChanges:
    """The changes of a run, which begins in `world`. All methods raise ControlError on failure."""

    def __init__(self, world: HostingEmulator) -> None:
        self._world = world
        self._clock: ClockState = world.clock.state
        self._ignored_operations: set[str] = set()
        self._is_running = self._clock.mode in _RUNNING_CLOCKS

    def ignore_operation(self, id_: str) -> None:
        """Leave out an operation that another program began before the observation.

        It is left out of the states of a chapter only if the chapter began with it, because an
        operation in another world may have the same id.
        """
        self._ignored_operations.add(id_)

    @property
    def clock_skips(self) -> bool:
        """Whether a poll moves the world's clock."""
        return self._clock.mode == "skip"

    def start_state(self) -> StateRows:
        """Return the state of the world before the run."""
        if not self._is_running:
            return summarize(self._world.export())
        with self._world.fork() as fork:
            return summarize(self._settle(fork))

    def state(
        self,
        start: StateRows,
        observed_worlds: WorldsObservation,
        chapters: Iterable[ChapterReport],
        *,
        settled: bool = False,
        begins_at_start: bool = False,
    ) -> StateRows:
        """Return the `start` state with the changes of each chapter.

        A chapter ends when its world is deleted, reset or replaced. The last state of an ended
        chapter counts too. If `settled` is True or the clock runs, all changes are taken at the
        same moment of world time. `begins_at_start` means that the world of the run had the `start`
        state when the observation began.
        """
        # Runs with a running clock take different times, so only their settled states can be compared.
        is_settled = settled or self._is_running
        total = {kind: Counter(rows) for kind, rows in start.items()}
        for chapter in chapters:
            if chapter.released:
                continue
            last_state = observed_worlds.state(chapter.index, began=False)
            if begins_at_start and not is_settled and self._is_first(chapter):
                # The state is known, and an export takes as long as several requests.
                before: StateRows = start
                after: StateRows = summarize(last_state)
            else:
                first_state = observed_worlds.state(chapter.index, began=True)
                ignored = self._ignored_operations & _operations(first_state).keys()
                before = self._state(first_state, ignored, is_settled=is_settled)
                after = self._state(last_state, ignored, is_settled=is_settled)
            for kind, rows in total.items():
                rows.update(after[kind])
                rows.subtract(before[kind])
        return total

    def _is_first(self, chapter: ChapterReport) -> bool:
        """Return whether a chapter of the run's world began with the observation."""
        return chapter.index == 0 and chapter.world == self._world.name

    def _state(self, state: JsonObject, ignored: Set[str], *, is_settled: bool) -> StateRows:
        """Return the rows of an exported state without the operations that are `ignored`.

        If `is_settled` is True, they are the rows at the moment of the comparison.
        """
        if is_settled:
            world = self._world.control.create_world(state=state, ephemeral=True)
            with HostingEmulator(self._world.control, world, throw_away=True) as copy:
                state = self._settle(copy)
        for id_ in ignored:
            del _operations(state)[id_]
        return summarize(state)

    def _settle(self, copy: HostingEmulator) -> JsonObject:
        """Move a copy of a world to the moment of the comparison, and return its state."""
        began = datetime.fromisoformat(self._clock.now)
        now = datetime.fromisoformat(copy.clock.freeze().now)
        # Do not move the clock back, because the client may have moved it beyond this moment.
        copy.clock.advance_to(max(now, began + _SETTLING_TIME))
        return copy.export()


def _operations(state: JsonObject) -> dict[str, Any]:
    """Return the operations of an exported state by id. A new world has none."""
    operations: dict[str, Any] = state["tables"].get("operations", {})
    return operations
