"""A keeper that stores a journal of a world in memory, and reads the world from it."""

from __future__ import annotations

from typing import Any

from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.storage.journal import decode_line, encode_line
from hosting_emulator.world.value import World, apply


class JournalKeeper(Keeper):
    """Stores the world with which the journal starts, and a line for each commit."""

    def __init__(self, world: World) -> None:
        self._first_world = world
        self._lines: list[bytes] = []

    def append(self, commit: Any) -> None:
        self._lines.append(encode_line(commit))

    def replace(self, world: World) -> None:
        self._first_world = world
        self._lines = []

    def read(self) -> World:
        """Return the world that an emulator would read after a crash."""
        world = self._first_world
        for line in self._lines:
            commit = decode_line(line[:-1])
            world = apply(world, commit.writes, commit=commit.number, at_ms=commit.at_ms)
        return world
