"""The history of one world: its latest commits, and the snapshots that users took.

States share all unchanged rows, so each state needs memory only for the rows that its commit wrote.
Old commits are dropped. The history exists only in memory, so it is lost when the process ends.
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

#: The titles of commits that only count requests, for armed faults or against the rate limit.
FAULTS_COUNTED = "faults counted"
RATE_COUNTED = "requests counted"
#: The title of commits that record when a retry makes sense, for a skip clock.
WAIT_NOTED = "wait noted"
#: The maximum number of commits in a world's history.
CAPACITY = 1000
#: The maximum number of rows that a history keeps from replaced worlds. A reset or an import
#: replaces the world. A row takes up about 1 KB.
MOST_ROWS_REPLACED = 100_000
#: The maximum number of snapshots of a world. A test that takes more has probably forgotten to
#: delete them.
MOST_SNAPSHOTS = 1000


def planned_in(writes: Writes) -> list[TimelineEntry]:
    """Return the timeline entries that a commit carried out, in order."""
    rows = writes.get(TIMELINE.name, {}).values()
    return [entry for entry in rows if entry is not None and entry.happened]


class SavedState(msgspec.Struct, frozen=True):
    """A state of a world, and the world time at which it was saved."""

    world: World
    at_ms: int


class Commit(msgspec.Struct, frozen=True):
    """A committed change to a world: its title, the rows that it wrote, and the world before and
    after it.

    `entered` lists the states that operations entered during the commit, in order. The world after
    the commit shows only the final state of each operation. If a user made the change by hand,
    `manual_change` describes it in the form of a story step. `restored` is the earlier state that
    the commit restored, if any. `request` is the number of the request that caused the commit, if
    any.
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
        """The commit's number within its world."""
        return self.world.commit

    @property
    def is_listed(self) -> bool:
        """Whether the commit is shown when the history is listed.

        Commits that only count requests or record the wait before a retry are not shown.
        """
        return self.title not in (FAULTS_COUNTED, RATE_COUNTED, WAIT_NOTED)


class History(deque[Commit]):
    """The latest commits in one world, oldest first. When the history is full, the oldest commit is
    dropped.
    """

    def __init__(self) -> None:
        super().__init__(maxlen=CAPACITY)

    def append_replacement(self, replacement: Commit) -> None:
        """Add a commit that replaced the whole world.

        If the replaced worlds in the history have more than MOST_ROWS_REPLACED rows in total, the
        oldest commits are dropped.
        """
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

    def world_at(self, at_ms: int) -> World:
        """Return the world as it was at world time `at_ms`, after the last commit made by then.

        Commits that a rewind undid are ignored. If the world was created or replaced after that
        time, the result is the state right after the creation or replacement. If the history no
        longer goes back that far, the result is the oldest state in it.
        """
        oldest = self[-1].world
        latest_number = oldest.commit
        for commit in reversed(self):
            if commit.number > latest_number:
                continue  # a rewind undid this commit
            oldest = commit.world
            if oldest.at_ms <= at_ms:
                return oldest
            if commit.restored is not None:
                latest_number = commit.restored.world.commit
            elif not commit.writes:
                return oldest  # the world was created or replaced here
        return oldest

    def state_after(self, number: int) -> World | None:
        """Return the world as it was after the commit with this number, or None if it is not in the
        history.

        The result includes the hit counts that the same request recorded after the commit. After
        the latest listed commit, the result is the current world, with all counts.
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
    """The world already has the maximum number of snapshots."""


class Snapshots(dict[str, SavedState]):
    """One world's snapshots by id, in the order in which they were taken."""

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self, world: World, at_ms: int) -> str:
        """Save a state, and return the id of the snapshot. Raises TooManySnapshots."""
        if len(self) >= MOST_SNAPSHOTS:
            raise TooManySnapshots(
                f"a world can have at most {MOST_SNAPSHOTS} snapshots; delete some of them"
            )
        self._taken += 1
        name = f"snapshot-{self._taken}"
        self[name] = SavedState(world, at_ms)
        return name
