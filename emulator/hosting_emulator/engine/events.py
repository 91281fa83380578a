"""Events: what happens in one world, told to whoever listens while it happens.

The feed knows no sockets. It keeps the last events in one ring, and each listener keeps its own
place in it: a slow listener costs no memory and falls behind until it has missed some. While nobody
listens nothing is kept, and each hook in the engine costs one look at `awake`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from hosting_emulator.engine.history import planned_in
from hosting_emulator.world.tables import CLOCK, FAULTS, OUTCOMES, SCHEDULE
from hosting_emulator.world.value import World, Writes

if TYPE_CHECKING:
    from hosting_emulator.engine.exchange import Entry

#: How many events are kept for listeners that are slow, or were away for a moment.
RING = 1000
#: The kinds of events, in the order in which documents name them.
KINDS = ("request", "commit", "clock", "fault", "outcome", "world", "worlds")


@dataclass(slots=True)
class FeedEvent:
    """One thing that happened. `facts` are its kind's own; `text` is kept once somebody wrote it.

    `request`: the log's entry. `commit`: number, moment in ms, title, and what a timeline planned for
    it that was refused. `clock`: nothing; whoever shows it reads the clock. `fault` and `outcome`: its
    id, itself (None: it was removed) and the moment.
    `world`: commit and title of what took its place. `worlds`: the name of a world, maybe another one,
    and whether it was made or is gone.
    """

    id: int
    kind: str
    facts: Any
    text: bytes | None = None


class Feed:
    """The events of one world. `awake` is to be asked before anything is told to it.

    Ids go up from `first_id`; a feed of a later process must begin above all that this one gave.
    """

    def __init__(self, first_id: int) -> None:
        self.awake = False
        #: The world is gone: listeners are to leave.
        self.ended = False
        self.last_id = first_id
        self._ring: deque[FeedEvent] = deque(maxlen=RING)
        self._listeners: list[Callable[[], None]] = []
        self._unheard = 0

    # --- listening ------------------------------------------------------------------------------

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake`, which must not wait for anything, after each event from now on."""
        self._listeners.append(wake)
        self._unheard = 0
        self.awake = True

    def leave(self, wake: Callable[[], None]) -> None:
        """Call it no more. The feed goes on for a ring's length, for a listener that comes back."""
        self._listeners.remove(wake)

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def since(self, id_: int, limit: int) -> list[FeedEvent] | None:
        """Return the next events after one, oldest first; None: some of them are no longer kept."""
        if not 0 <= self.last_id - id_ <= len(self._ring):
            return None
        start = len(self._ring) - (self.last_id - id_)
        return list(islice(self._ring, start, start + limit))

    # --- telling --------------------------------------------------------------------------------

    def exchanged(self, entry: Entry) -> None:
        """Tell of a request that was answered."""
        self._add("request", entry)

    def committed(self, title: str, writes: Writes, world: World) -> None:
        """Tell of a commit, and of what it did to the clock, to the schedule and to faults."""
        refused = [str(planned.said) for planned in planned_in(writes) if planned.refused]
        self._add("commit", (world.commit, world.at_ms, title, refused))
        if CLOCK.name in writes or SCHEDULE.name in writes:
            self._add("clock", None)
        for kind, table in (("fault", FAULTS), ("outcome", OUTCOMES)):
            for id_, armed in writes.get(table.name, {}).items():
                self._add(kind, (id_, armed, world.at_ms))

    def replaced(self, title: str, world: World) -> None:
        """Tell that another world stands here now."""
        self._add("world", (world.commit, title))

    def listed(self, name: str, *, made: bool) -> None:
        """Tell that a world was made, or is gone."""
        self._add("worlds", (name, made))

    def end(self) -> None:
        """Tell that the world is gone."""
        self.ended = True
        self._wake()

    def _add(self, kind: str, facts: Any) -> None:
        self.last_id += 1
        self._ring.append(FeedEvent(self.last_id, kind, facts))
        if self._listeners:
            self._wake()
            return
        self._unheard += 1
        if self._unheard >= RING:
            self._ring.clear()
            self.awake = False

    def _wake(self) -> None:
        for wake in self._listeners:
            wake()
