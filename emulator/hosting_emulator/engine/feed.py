"""The events in one world, for its listeners.

While a feed is not `awake`, an event costs no more than one check.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.fault_records import is_spent
from hosting_emulator.world.tables import CLOCK, FAULTS, OUTCOMES, SCHEDULE
from hosting_emulator.world.value import World, Writes

if TYPE_CHECKING:
    pass
from hosting_emulator.engine.history import planned_in

#: The maximum number of past events that a feed keeps for listeners that are slow or reconnecting.
RING = 1000
#: The kinds of events, in the order in which the documentation lists them.
KINDS = ("request", "commit", "clock", "fault", "outcome", "world", "worlds")


@dataclass(slots=True)
class FeedEvent:
    """An event. `facts` is its content, and `text` caches its encoded form.

    The content of a `request` event is an entry in the request log. A `clock` event has no content,
    because listeners query the clock themselves.
    """

    id: int
    kind: str
    facts: Any
    text: bytes | None = None


class Feed:
    """The events in one world. Callers must emit events only while `awake` is true.

    Ids count up from `first_id`, which must be greater than any id used by an earlier process.
    """

    def __init__(self, first_id: int) -> None:
        self.awake = False
        #: Whether the world has been deleted. Listeners must then leave the feed.
        self.ended = False
        self.last_id = first_id
        self._ring: deque[FeedEvent] = deque(maxlen=RING)
        self._listeners: list[Callable[[], None]] = []
        #: The number of consecutive events for which there was no listener.
        self._unheard = 0

    def listen(self, wake: Callable[[], None]) -> None:
        """Add a listener: call `wake` after each event from now on. `wake` must not block."""
        self._listeners.append(wake)
        self._unheard = 0
        self.awake = True

    def leave(self, wake: Callable[[], None]) -> None:
        """Remove a listener.

        With no listeners left, the feed stays awake for another RING events, in case a listener
        reconnects.
        """
        self._listeners.remove(wake)

    @property
    def listeners(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    def since(self, id_: int, limit: int) -> list[FeedEvent] | None:
        """Return up to `limit` events with ids greater than `id_`, oldest first.

        Returns None if the feed has dropped some of these events, or has not reached that id yet.
        """
        if not 0 <= self.last_id - id_ <= len(self._ring):
            return None
        start = len(self._ring) - (self.last_id - id_)
        return list(islice(self._ring, start, start + limit))

    def emit_commit(self, title: str, writes: Writes, world: World) -> None:
        """Emit events for a commit and for its changes to the clock, the schedule, faults and
        outcomes.
        """
        refused = [str(entry.message) for entry in planned_in(writes) if entry.refused]
        commit = {
            "commit": world.commit,
            "at": format_timestamp(world.at_ms),
            "title": title,
            "refused": refused,
        }
        self.emit("commit", commit)
        if CLOCK.name in writes or SCHEDULE.name in writes:
            self.emit("clock", None)
        for kind, table in (("fault", FAULTS), ("outcome", OUTCOMES)):
            for id_, armed in writes.get(table.name, {}).items():
                counts: dict[str, Any] = {"removed": True}
                if armed is not None:
                    counts = {
                        "seen": armed.seen,
                        "hits": armed.hits,
                        "spent": is_spent(armed, world.at_ms),
                        "removed": False,
                    }
                self.emit(kind, {"id": id_, **counts})

    def end(self) -> None:
        """Wake all listeners one last time, because the world was deleted."""
        self.ended = True
        for wake in self._listeners:
            wake()

    def emit(self, kind: str, facts: Any) -> None:
        """Add an event with this content (see `FeedEvent`), and wake all listeners."""
        self.last_id += 1
        self._ring.append(FeedEvent(self.last_id, kind, facts))
        for wake in self._listeners:
            wake()
        if self._listeners:
            self._unheard = 0
            return
        self._unheard += 1
        if self._unheard >= RING:
            self._ring.clear()
            self.awake = False
