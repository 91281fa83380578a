"""The history of a world: its last commits, each with the state it made, to go back to.

States are values that share what did not change between them, so keeping one costs what its commit
wrote. Older commits are forgotten; so are all when the process ends.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from hosting_emulator.world.value import Entered, World

#: How many commits of a world are kept.
CAPACITY = 1000


class Moment(NamedTuple):
    """A commit: what made it, and the state it made. Its number and time are the state's.

    `entered` is what operations went through in it, in order: of several steps the state shows only
    the last.
    """

    title: str
    world: World
    entered: tuple[Entered, ...] = ()


class History:
    """The last commits of one world, oldest first."""

    def __init__(self) -> None:
        self._moments: deque[Moment] = deque(maxlen=CAPACITY)

    def add(self, title: str, world: World, entered: tuple[Entered, ...] = ()) -> None:
        """Keep a commit; the oldest goes when there are too many."""
        self._moments.append(Moment(title, world, entered))

    def newest(self, limit: int) -> list[Moment]:
        """Return the last `limit` commits, newest first."""
        return list(self._moments)[::-1][:limit]

    def find(self, commit: int) -> Moment | None:
        """Return the commit of this number; None when it is forgotten, or never was."""
        return next((moment for moment in self._moments if moment.world.commit == commit), None)

    @property
    def first(self) -> int | None:
        """The number of the oldest commit that is kept."""
        return self._moments[0].world.commit if self._moments else None
