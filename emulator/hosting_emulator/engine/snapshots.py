"""Snapshots: states of one world set aside by name, to come back to. They live with the process.

A world is a value, so taking one costs nothing and keeps what it shares with the others only once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hosting_emulator.world.value import World


class Snapshot(NamedTuple):
    """A state, and the moment of world time at which it was set aside."""

    world: World
    at_ms: int


#: More would only be a test that forgot to delete them.
MOST = 1000


class TooManySnapshots(Exception):
    """A world has as many snapshots as it can have."""


class Snapshots:
    """The snapshots of one world, in the order they were taken."""

    def __init__(self) -> None:
        self._taken = 0
        self._kept: dict[str, Snapshot] = {}

    def take(self, world: World, at_ms: int) -> str:
        """Set a state aside and return its id. Raises TooManySnapshots."""
        if len(self._kept) >= MOST:
            raise TooManySnapshots(f"a world has at most {MOST} snapshots; delete some")
        self._taken += 1
        name = f"snapshot-{self._taken}"
        self._kept[name] = Snapshot(world, at_ms)
        return name

    def find(self, name: str) -> Snapshot | None:
        """Return what was set aside under this id, or None."""
        return self._kept.get(name)

    def drop(self, name: str) -> None:
        """Forget a snapshot that is there."""
        del self._kept[name]

    def __iter__(self) -> Iterator[tuple[str, Snapshot]]:
        """Walk ids and snapshots, oldest first."""
        return iter(self._kept.items())
