"""A chapter: one life of one world name, from a request on until the world ends."""

from __future__ import annotations

from hosting_emulator.conduct.watch import Watch
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.faults.usage import UsageCounter
from hosting_emulator.world.value import World


class Chapter:
    """One life of one world name, as one judge sees it: from a request on until the world's end.

    Once it has ended it holds the world as it was, and its last exchanges, until `release`.
    """

    def __init__(self, engine: Engine, after: int, *, unseen: int = 0) -> None:
        self.engine = engine
        self.name = engine.world.name
        #: The world as the chapter began. None: it was released.
        self.first_world: World | None = engine.world
        self.began_at_ms = engine.world.at_ms
        self.ended: EndReason | None = None
        self.watch = Watch(engine, after, unseen=unseen)
        self._after = after
        self._requests = 0
        self._entries: list[Entry] | None = []
        self._world: World | None = None
        self._usage = engine.usage
        #: The machine's time when it ended.
        self.ended_machine_ms = 0

    @property
    def requests(self) -> int:
        """How many requests arrived."""
        if self.ended:
            return self._requests
        return self.engine.log.count - self._after

    @property
    def world(self) -> World | None:
        """The world as it is, or as it was at the end. None: it was released."""
        if self.ended:
            return self._world
        return self.engine.world

    @property
    def entries(self) -> list[Entry] | None:
        """The last exchanges, oldest first. None: they were released."""
        if self.ended:
            return self._entries
        return self.engine.log.after(self._after)

    @property
    def usage(self) -> UsageCounter:
        """The counts of the world's faults and outcomes."""
        if self.ended:
            return self._usage
        return self.engine.usage

    def end(self, reason: EndReason, *, keep: bool = True) -> None:
        """Judge everything that is left. Keep the world and the log if `keep` is set."""
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
        """Release the world and the exchanges; the verdict and the counts stay."""
        self._entries = None
        self._world = None
        self.first_world = None
