"""Commits: accepted changes on their way to wherever they are kept."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from hosting_emulator.world.value import World, Writes


@dataclass(frozen=True, slots=True)
class Commit:
    """One accepted change of a world: its number, its moment, what made it and what it wrote."""

    number: int
    at_ms: int
    title: str
    writes: Writes


class Keeper(Protocol):
    """Keeps one world's commits."""

    @property
    def starts(self) -> int:
        """0 in the process that made the world, and one more each time it is read back."""

    def append(self, commit: Commit, world: World) -> None:
        """Keep a commit; `world` is what it makes. Raises OSError when it cannot be kept."""

    def replace(self, world: World) -> None:
        """Keep a whole world in place of everything before. Raises OSError."""

    def durable(self) -> Awaitable[None] | None:
        """Return what to await before an answer may say that all so far is kept; None: nothing."""

    def discard(self) -> None:
        """Forget the world."""


class Memory:
    """Keeps nothing beyond the process: for ephemeral worlds."""

    starts = 0

    def append(self, commit: Commit, world: World) -> None:
        """Do nothing: the world itself is in memory."""

    def replace(self, world: World) -> None:
        """Do nothing."""

    def durable(self) -> None:
        """Nothing is to be awaited."""
        return

    def discard(self) -> None:
        """Do nothing."""
