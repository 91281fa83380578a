"""The interface for storing a world. The base class in this module does not store anything."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from hosting_emulator.world.value import World

if TYPE_CHECKING:
    pass
from hosting_emulator.engine.history import Commit


class Keeper:
    """Stores the commits of one world. This base class does not store anything.

    A subclass in `storage` writes the commits to disk. Its methods raise OSError if a commit cannot
    be stored. `starts` is how many times the world has been loaded from disk: 0 in the process that
    created it. `shown_ms` is the latest world time that a client has seen, and is set by the
    engine. If `waits` is true, responses must wait for `durable`. If `is_on_disk` is true, the
    commits outlive the process.
    """

    starts = 0
    waits = False
    is_on_disk = False
    shown_ms = 0

    def append(self, commit: Commit) -> None:
        """Store a commit."""

    def replace(self, world: World) -> None:
        """Store a complete world, which replaces all earlier commits."""

    def durable(self) -> Awaitable[None] | None:
        """Return an awaitable that completes when all commits are durable, or None if they already
        are.
        """
        return None


class StoreFailed(Exception):
    """A change could not be stored, so it was not made. The message gives the reason."""
