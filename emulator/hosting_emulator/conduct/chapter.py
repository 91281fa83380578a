"""A chapter: all requests to one world until the world is reset, loaded, replaced or deleted."""

from __future__ import annotations

from hosting_emulator.conduct.watch import Watch
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.faults.usage import UsageCounter
from hosting_emulator.world.value import World


class Chapter:
    """The period during which one observer watches one world.

    A chapter starts with request number `after + 1`, and ends when the world is reset, loaded,
    replaced or deleted. After it ends, a chapter can keep the world's final state and most recent
    exchanges until `release` is called.
    """

    def __init__(self, engine: Engine, after: int, *, unseen: int = 0) -> None:
        self.engine = engine
        self.name = engine.world.name
        #: The world at the beginning of the chapter, or None after `release`.
        self.first_world: World | None = engine.world
        self.began_at_ms = engine.world.at_ms
        self.ended: EndReason | None = None
        self.watch = Watch(engine, after, unseen=unseen)
        self._after = after
        self._requests = 0
        self._entries: list[Entry] | None = []
        self._world: World | None = None
        self._usage = engine.usage
        #: The real time at which the chapter ended, in milliseconds. 0 until the chapter ends.
        self.ended_machine_ms = 0

    @property
    def requests(self) -> int:
        """The number of requests in the chapter."""
        if self.ended:
            return self._requests
        return self.engine.log.count - self._after

    @property
    def has_seen_nothing(self) -> bool:
        """Whether the chapter is still as it began: the world is the same, and no request has arrived."""
        return (
            self.ended is None
            and self.requests == 0
            and not self.engine.log.in_progress
            and not self.watch.errors.count
            and self.engine.world is self.first_world
        )

    @property
    def world(self) -> World | None:
        """The world's current state or, after the chapter's end, the world's final state.

        None if the final state was not kept or has been released.
        """
        if self.ended:
            return self._world
        return self.engine.world

    @property
    def entries(self) -> list[Entry] | None:
        """The most recent exchanges, oldest first. None if they were not kept or have been
        released.
        """
        if self.ended:
            return self._entries
        return self.engine.log.after(self._after)

    @property
    def usage(self) -> UsageCounter:
        """How often each of the world's faults and outcomes was considered, and the request that
        came closest to matching it.
        """
        if self.ended:
            return self._usage
        return self.engine.usage

    def end(self, reason: EndReason, *, keep: bool = True) -> None:
        """Judge the remaining exchanges and end the chapter.

        With `keep`, the chapter keeps the world's final state and the most recent exchanges.
        """
        self.watch.close()
        requests = self.requests
        entries = self.entries
        self._requests = requests
        self._usage = self.engine.usage
        self.ended = reason
        self.ended_machine_ms = self.engine.machine_ms
        self._entries = None
        self._world = None
        if keep:
            self._entries = entries
            self._world = self.engine.world

    def release(self) -> None:
        """Discard the world and the exchanges, but keep the findings and counts."""
        self._entries = None
        self._world = None
        self.first_world = None
