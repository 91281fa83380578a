"""Earlier states of a world to go back to: those of its last commits, and snapshots set aside.

States are values that share what did not change between them, so keeping one costs what its commit
wrote. Older commits are forgotten; so is all of it when the process ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from hosting_emulator.world.records import TimelineEntry
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Transition, World, Writes

#: The commits that only count what was asked: for the armed faults, and for the rate limit.
FAULTS_COUNTED, RATE_COUNTED = "faults counted", "requests counted"
#: How many commits of a world are kept.
CAPACITY = 1000
#: How many rows may be kept of worlds that others were put in the place of (imports, resets); a row
#: takes about 1 KB.
MOST_ROWS_REPLACED = 100_000
#: How many snapshots: more would only be a test that forgot to delete them.
MOST_SNAPSHOTS = 1000


def planned_in(writes: Writes) -> list[TimelineEntry]:
    """Return what of the timeline came to pass in a commit, in the order in which it did."""
    rows = writes.get(TIMELINE.name, {}).values()
    return [planned for planned in rows if planned is not None and planned.done]


class SavedState(NamedTuple):
    """A state, and the moment of world time at which it was set aside."""

    world: World
    at_ms: int


class Commit(NamedTuple):
    """One accepted change of a world: what made it, what it wrote, the world it found and it came to.

    Its time is the world's. `entered` is what operations went through in it, in order: of several
    steps the world shows only the last. `turn` is what a hand did, as a step of a story says it, and
    `restored` the earlier state that it put back.
    """

    title: str
    writes: Writes
    before: World
    world: World
    entered: tuple[Transition, ...] = ()
    turn: Mapping[str, Any] | None = None
    restored: SavedState | None = None

    @property
    def number(self) -> int:
        """Its number: the world's."""
        return self.world.commit


class History(deque[Commit]):
    """The last commits of one world, oldest first. The oldest goes when there are too many."""

    def __init__(self) -> None:
        super().__init__(maxlen=CAPACITY)

    def replace(self, replaced: Commit) -> None:
        """Add a commit that put another world in a place; the oldest go when too much is kept so."""
        self.append(replaced)
        rows = 0
        for commit in reversed(self):
            if commit.before is commit.world or commit.writes:
                continue
            rows += sum(map(len, commit.before.tables.values()))
            if rows > MOST_ROWS_REPLACED:
                while self[0] is not commit:
                    self.popleft()
                self[0] = commit._replace(before=commit.world)
                return

    def newest(self, limit: int) -> list[Commit]:
        """Return the last `limit` commits, newest first."""
        return list(self)[::-1][:limit]

    def find(self, number: int) -> Commit | None:
        """Return the commit of this number; None when it is forgotten, or never was."""
        return next((commit for commit in self if commit.number == number), None)

    @property
    def first(self) -> int | None:
        """The number of the oldest commit that is kept."""
        return self[0].number if self else None


class TooManySnapshots(Exception):
    """A world has as many snapshots as it can have."""


class Snapshots(dict[str, SavedState]):
    """The snapshots of one world by their ids, in the order they were taken."""

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self, world: World, at_ms: int) -> str:
        """Set a state aside and return its id. Raises TooManySnapshots."""
        if len(self) >= MOST_SNAPSHOTS:
            raise TooManySnapshots(
                f"a world can have at most {MOST_SNAPSHOTS} snapshots; delete some"
            )
        self._taken += 1
        name = f"snapshot-{self._taken}"
        self[name] = SavedState(world, at_ms)
        return name
