"""A snapshot of a world."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from hosting_emulator import messages
from hosting_emulator.sdk.transport import Transport
from hosting_emulator.sdk.world_handle import WorldHandle, ignore_missing

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class WorldSnapshot(WorldHandle, AbstractContextManager["WorldSnapshot", None]):
    """A saved state of a world, with its `id`, its `commit` and its world time, `at`.

    Restoring a snapshot does not affect the request log. If used in a `with` statement, the
    snapshot is restored and deleted at the end of the block. Otherwise, it exists until its world
    is deleted or the emulator stops.
    """

    def __init__(
        self,
        transport: Transport,
        world: str,
        state: messages.SnapshotState,
        restore: Callable[[WorldSnapshot], object],
    ) -> None:
        super().__init__(transport, world)
        self._restore = restore
        self.id = state.id
        self.commit = state.commit
        self.at = state.at

    def __repr__(self) -> str:
        return f"<WorldSnapshot {self.id!r} of {self.name!r} at {self.at}>"

    def restore(self) -> None:
        """Restore the world to this snapshot. A snapshot can be restored any number of times.

        Raises ControlRefused if the snapshot has been deleted.
        """
        self._restore(self)

    def forget(self) -> None:
        """Delete the snapshot. Deleting a snapshot twice is not an error."""
        with ignore_missing():
            self._ask("DELETE", "snapshots", self.id)

    def __exit__(self, *_: object) -> None:
        self.restore()
        self.forget()
