"""A keeper that stores a world as a journal does, in memory, and reads it again."""

from __future__ import annotations

from typing import Any

from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.storage.journal import decode_line, encode_line
from hosting_emulator.world.value import World, apply


class JournalKeeper(Keeper):
    """Keeps the world that the journal begins with, and a line for each commit."""

    def __init__(self, world: World) -> None:
        self._first_world = world
        self._lines: list[bytes] = []

    def append(self, commit: Any) -> None:
        self._lines.append(encode_line(commit))

    def replace(self, world: World) -> None:
        self._first_world = world
        self._lines = []

    def read(self) -> World:
        """Return the world that a start after a crash would find."""
        world = self._first_world
        for line in self._lines:
            commit = decode_line(line[:-1])
            world = apply(world, commit.writes, commit=commit.number, at_ms=commit.at_ms)
        return world
