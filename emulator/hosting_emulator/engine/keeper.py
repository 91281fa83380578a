"""The interface through which a world is kept. The class here keeps nothing beyond the process."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from hosting_emulator.world.value import World

if TYPE_CHECKING:
    pass
from hosting_emulator.engine.history import Commit


class Keeper:
    """Keeps the commits of one world. This base class keeps nothing; `storage` writes to disk.

    A method that cannot keep a commit raises OSError. `starts` counts how often the world was read
    back: 0 in the process that created it. `shown_ms` is the latest world time that a client saw;
    the engine sets it. `waits` says that responses must wait for `durable`. `is_on_disk` says that
    the commits outlive the process.
    """

    starts = 0
    waits = False
    is_on_disk = False
    shown_ms = 0

    def append(self, commit: Commit) -> None:
        """Keep a commit."""

    def replace(self, world: World) -> None:
        """Keep a whole world in place of all earlier commits."""

    def durable(self) -> Awaitable[None] | None:
        """Return what a response must await until all commits so far are durable. None: nothing."""
        return None


class StoreFailed(Exception):
    """A change could not be stored, so it was not made. The message gives the reason."""
