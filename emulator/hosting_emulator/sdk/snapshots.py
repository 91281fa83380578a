"""A moment of a world to go back to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from hosting_emulator.sdk.errors import ControlRefused
from hosting_emulator.sdk.observed import SnapshotEntry

if TYPE_CHECKING:
    from hosting_emulator.sdk.happening import Happening


class Snapshot:
    """A world as it was: `id`, `commit`, and `at`, a timestamp of world time.

    Going back puts state, clock, faults and assumptions back; the request log goes on. At the end
    of a `with` block the world goes back and the snapshot is forgotten. Otherwise it lives as long
    as its world.
    """

    def __init__(self, emulator: Happening, kept: SnapshotEntry) -> None:
        self._emulator = emulator
        self.id = kept["id"]
        self.commit = kept["commit"]
        self.at = kept["at"]

    def __repr__(self) -> str:
        return f"<Snapshot {self.id!r} of {self._emulator.name!r} at {self.at}>"

    def restore(self) -> None:
        """Put the world back as it was, as often as you like. Raises ControlRefused if forgotten."""
        self._emulator.restore(self)

    def forget(self) -> None:
        """Let go of it; a forgotten one is no error."""
        try:
            self._emulator.control.delete_snapshot(self.id, self._emulator.name)
        except ControlRefused as refused:
            if refused.status != 404:
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()
        self.forget()
