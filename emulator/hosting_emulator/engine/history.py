"""What happens in a world: its commits, as they are kept, gone back to, told and counted.

States are values that share what did not change between them, so keeping one costs what its commit
wrote. Older commits are forgotten; so is all of it when the process ends, but for what a `Keeper`
keeps. The feed tells whoever listens, and costs one look at `awake` while nobody does.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.faults.decisions import spent
from hosting_emulator.world.records import TimelineEntry
from hosting_emulator.world.tables import CLOCK, FAULTS, OUTCOMES, SCHEDULE, TIMELINE
from hosting_emulator.world.value import Transition, World, Writes

if TYPE_CHECKING:
    from hosting_emulator.engine.exchange import Entry

_log = logging.getLogger("hosting_emulator.history")
#: The titles of commits that only count requests: for the armed faults, and for the rate limit.
FAULTS_COUNTED = "faults counted"
RATE_COUNTED = "requests counted"
#: The title of commits that note until when a skip clock waits for a retry.
WAIT_NOTED = "wait noted"
#: How many commits of a world are kept.
CAPACITY = 1000
#: How many rows may be kept of worlds that others were put in the place of (imports, resets); a row
#: takes about 1 KB.
MOST_ROWS_REPLACED = 100_000
#: How many snapshots: more would only be a test that forgot to delete them.
MOST_SNAPSHOTS = 1000
#: How many events are kept for listeners that are slow, or were away for a moment.
RING = 1000
#: The kinds of events, in the order in which documents name them.
KINDS = ("request", "commit", "clock", "fault", "outcome", "world", "worlds")
#: Upper bounds of the histogram of time spent in the core, in nanoseconds.
BUCKETS_NS = (10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000, 100_000_000)


def planned_in(writes: Writes) -> list[TimelineEntry]:
    """Return what of the timeline came to pass in a commit, in the order in which it did."""
    rows = writes.get(TIMELINE.name, {}).values()
    return [planned for planned in rows if planned is not None and planned.done]


class SavedState(NamedTuple):
    """A state, and the moment of world time at which it was set aside."""

    world: World
    at_ms: int


class Commit(NamedTuple):
    """One accepted change of a world: what made it, what it wrote, the world it found and it came to.

    Its time is the world's. `entered` is what operations went through in it, in order: of several
    steps the world shows only the last. `turn` is what a hand did, as a step of a story says it, and
    `restored` the earlier state that it put back. `request` is the number of the request that made
    it, if one did.
    """

    title: str
    writes: Writes
    before: World
    world: World
    entered: tuple[Transition, ...] = ()
    turn: Mapping[str, Any] | None = None
    restored: SavedState | None = None
    request: int | None = None

    @property
    def number(self) -> int:
        """Its number: the world's."""
        return self.world.commit

    @property
    def is_listed(self) -> bool:
        """Whether lists of the history show it. Those that only count requests are left out."""
        return self.title not in (FAULTS_COUNTED, RATE_COUNTED, WAIT_NOTED)


class History(deque[Commit]):
    """The last commits of one world, oldest first. The oldest goes when there are too many."""

    def __init__(self) -> None:
        super().__init__(maxlen=CAPACITY)

    def replace(self, replaced: Commit) -> None:
        """Add a commit that put another world in a place; the oldest go when too much is kept so."""
        self.append(replaced)
        rows = 0
        for commit in reversed(self):
            if commit.before is commit.world or commit.writes:
                continue
            rows += sum(map(len, commit.before.tables.values()))
            if rows > MOST_ROWS_REPLACED:
                while self[0] is not commit:
                    self.popleft()
                self[0] = commit._replace(before=commit.world)
                return

    def find(self, number: int) -> Commit | None:
        """Return the commit of this number; None when it is forgotten, or never was."""
        return next((commit for commit in self if commit.number == number), None)

    def state_after(self, number: int) -> World | None:
        """Return the world as it was after a commit; None when that commit is not kept.

        Of a listed commit this includes what its own request counted afterwards. Of the last listed
        commit it includes all that was counted since: it is the world as it is.
        """
        later = iter(self)
        commit = next((commit for commit in later if commit.number == number), None)
        if commit is None:
            return None
        if not commit.is_listed:
            return commit.world
        own = commit.world
        last = commit.world
        for follower in later:
            if follower.is_listed:
                return own
            if own is last and commit.request is not None and follower.request == commit.request:
                own = follower.world
            last = follower.world
        return last


class Keeper:
    """Keeps one world's commits: this one no longer than the process. What it cannot keep raises OSError.

    `starts` is 0 in the process that made the world, and one more each time it is read back;
    `shown_ms` is the last moment that anybody was shown: it is to be set with each later one;
    `waits` says that an answer has to wait for what `durable` returns, and `is_on_disk` whether the
    commits outlive the process.
    """

    starts = 0
    waits = False
    is_on_disk = False
    shown_ms = 0

    def append(self, commit: Commit) -> None:
        """Keep a commit."""

    def replace(self, world: World) -> None:
        """Keep a whole world in place of everything before."""

    def durable(self) -> Awaitable[None] | None:
        """Return what to await before an answer may say that all so far is kept; None: nothing."""
        return None


class StoreFailed(Exception):
    """A change could not be kept, so it was not made; the message says what went wrong."""


class TooManySnapshots(Exception):
    """A world has as many snapshots as it can have."""


class Snapshots(dict[str, SavedState]):
    """The snapshots of one world by their ids, in the order they were taken."""

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self, world: World, at_ms: int) -> str:
        """Set a state aside and return its id. Raises TooManySnapshots."""
        if len(self) >= MOST_SNAPSHOTS:
            raise TooManySnapshots(
                f"a world can have at most {MOST_SNAPSHOTS} snapshots; delete some"
            )
        self._taken += 1
        name = f"snapshot-{self._taken}"
        self[name] = SavedState(world, at_ms)
        return name


# --- what is told as it happens --------------------------------------------------------------------


@dataclass(slots=True)
class FeedEvent:
    """One thing that happened. `facts` are what is told of it; `text` is kept once somebody wrote it.

    Of a `request` that is the log's entry, and of the `clock` nothing: whoever shows them looks at them.
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

    def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake`, which must not wait for anything, after each event from now on."""
        self._listeners.append(wake)
        self._unheard, self.awake = 0, True

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

    def committed(self, title: str, writes: Writes, world: World) -> None:
        """Tell of a commit, and of what it did to the clock, to the schedule and to faults."""
        refused = [str(planned.said) for planned in planned_in(writes) if planned.refused]
        told = {"commit": world.commit, "at": format_timestamp(world.at_ms)}
        self.tell("commit", told | {"title": title, "refused": refused})
        if CLOCK.name in writes or SCHEDULE.name in writes:
            self.tell("clock", None)
        for kind, table in (("fault", FAULTS), ("outcome", OUTCOMES)):
            for id_, armed in writes.get(table.name, {}).items():
                counts = {"removed": True}
                if armed is not None:
                    counts = {"seen": armed.seen, "hits": armed.hits}
                    counts |= {"spent": spent(armed, world.at_ms), "removed": False}
                self.tell(kind, {"id": id_, **counts})

    def end(self) -> None:
        """Tell that the world is gone."""
        self.ended = True
        for wake in self._listeners:
            wake()

    def tell(self, kind: str, facts: Any) -> None:
        """Tell of an event; see `FeedEvent` for the facts of a kind."""
        self.last_id += 1
        self._ring.append(FeedEvent(self.last_id, kind, facts))
        for wake in self._listeners:
            wake()
        self._unheard = 0 if self._listeners else self._unheard + 1
        if self._unheard >= RING:
            self._ring.clear()
            self.awake = False


# --- what is counted, of all worlds of a process together: tests make thousands -------------------


@dataclass(slots=True)
class Count:
    """Requests of one call and status: how many, how long in all, how many in each bucket.

    `buckets` has one place more than BUCKETS_NS, for what took longer than the last bound.
    """

    requests: int = 0
    took_ns: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_NS) + 1))


class Tally:
    """Counts of one process, by call (empty where no call has the path) and status (0: no response).

    `listener`, if there is one, is told of each exchange after it was counted, with its world.
    """

    def __init__(self) -> None:
        self.listener: Callable[[World, Entry], None] | None = None
        self.exchanges: dict[tuple[str, int], Count] = {}
        self.replays = 0
        self.lost = Counter[str]()
        #: How many answers varied, by point.
        self.varied = Counter[str]()
        self.commits = 0

    def add(self, world: World, entry: Entry) -> None:
        """Count an exchange of a world, and tell the listener."""
        key = (entry.call or "", entry.status)
        count = self.exchanges.get(key)
        if count is None:
            count = self.exchanges[key] = Count()
        took_ns = entry.took_ns
        count.requests += 1
        count.took_ns += took_ns
        count.buckets[bisect_left(BUCKETS_NS, took_ns)] += 1
        self.replays += entry.replayed
        if entry.lost is not None:
            self.lost[entry.lost] += 1
        if entry.varied:
            self.varied.update(entry.varied)
        if self.listener is not None:
            try:
                self.listener(world, entry)
            except Exception as error:  # it must not reach the client of this request
                _log.error("a request could not be logged", exc_info=error)
