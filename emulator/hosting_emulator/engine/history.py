"""The history of one world: its last commits, and the snapshots that a user took.

States share all rows that did not change between them, so keeping a state costs only what its commit
wrote. The history lives in memory: old commits are dropped, and all of it ends with the process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hosting_emulator.world.records import TimelineEntry
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Transition, World, Writes

#: The titles of commits that only count requests for the armed faults or for the rate limit.
FAULTS_COUNTED = "faults counted"
RATE_COUNTED = "requests counted"
#: The title of commits that record how long a skip clock waits for a retry.
WAIT_NOTED = "wait noted"
#: How many commits of a world are kept.
CAPACITY = 1000
#: How many rows of replaced worlds (by imports and resets) a history keeps. A row takes about 1 KB.
MOST_ROWS_REPLACED = 100_000
#: How many snapshots of a world can exist. More would mean that a test forgets to delete them.
MOST_SNAPSHOTS = 1000


def planned_in(writes: Writes) -> list[TimelineEntry]:
    """Return the entries of the timeline that a commit carried out, in order."""
    rows = writes.get(TIMELINE.name, {}).values()
    return [entry for entry in rows if entry is not None and entry.happened]


class SavedState(msgspec.Struct, frozen=True):
    """A state of a world, and the world time at which it was saved."""

    world: World
    at_ms: int


class Commit(msgspec.Struct, frozen=True):
    """One accepted change of a world: its title, the rows it wrote, and the world before and after.

    `entered` are the states that operations entered in it, in order; the world after shows only the
    last one of each. `manual_change` describes a change made by hand as a step of a story would.
    `restored` is the earlier state to which the world returned. `request` is the number of the
    request that made the commit, if one did.
    """

    title: str
    writes: Writes
    before: World
    world: World
    entered: tuple[Transition, ...] = ()
    manual_change: Mapping[str, Any] | None = None
    restored: SavedState | None = None
    request: int | None = None

    @property
    def number(self) -> int:
        """The number of the commit, counted from the beginning of the world."""
        return self.world.commit

    @property
    def is_listed(self) -> bool:
        """Whether lists of the history show the commit. They leave out those that only count."""
        return self.title not in (FAULTS_COUNTED, RATE_COUNTED, WAIT_NOTED)


class History(deque[Commit]):
    """The last commits of one world, oldest first. A full history drops its oldest commit."""

    def __init__(self) -> None:
        super().__init__(maxlen=CAPACITY)

    def append_replacement(self, replacement: Commit) -> None:
        """Add a commit that replaced the whole world. Too many rows of replaced worlds drop old commits."""
        self.append(replacement)
        rows = 0
        for commit in reversed(self):
            if commit.before is commit.world or commit.writes:
                continue
            rows += sum(map(len, commit.before.tables.values()))
            if rows > MOST_ROWS_REPLACED:
                while self[0] is not commit:
                    self.popleft()
                self[0] = replace(commit, before=commit.world)
                return

    def find(self, number: int) -> Commit | None:
        """Return the commit of this number. None: it was dropped, or never existed."""
        return next((commit for commit in self if commit.number == number), None)

    def state_after(self, number: int) -> World | None:
        """Return the world after a commit. None: the history does not have that commit.

        The state after a listed commit includes the counts that its own request added afterwards.
        The state after the latest listed commit is the current world, with all counts.
        """
        later = iter(self)
        commit = next((commit for commit in later if commit.number == number), None)
        if commit is None:
            return None
        if not commit.is_listed:
            return commit.world
        own = commit.world
        last = commit.world
        for follower in later:
            if follower.is_listed:
                return own
            if own is last and commit.request is not None and follower.request == commit.request:
                own = follower.world
            last = follower.world
        return last


class TooManySnapshots(Exception):
    """A world has the maximal number of snapshots."""


class Snapshots(dict[str, SavedState]):
    """The snapshots of one world by their ids, in the order they were taken."""

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self, world: World, at_ms: int) -> str:
        """Save a state and return its id. Raises TooManySnapshots."""
        if len(self) >= MOST_SNAPSHOTS:
            raise TooManySnapshots(
                f"a world can have at most {MOST_SNAPSHOTS} snapshots; delete some"
            )
        self._taken += 1
        name = f"snapshot-{self._taken}"
        self[name] = SavedState(world, at_ms)
        return name
