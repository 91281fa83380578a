"""The tally: what one process has done, counted as it happens and read when somebody looks.

Counts are of all worlds together: tests make thousands of worlds, and each would be a series.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from hosting_emulator.engine.exchange import Entry
from hosting_emulator.world.value import World

#: Upper bounds of the histogram of time spent in the core, in nanoseconds.
BUCKETS_NS = (10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000, 100_000_000)


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
        self.lost: dict[str, int] = {}
        #: How many answers varied, by point.
        self.varied: dict[str, int] = {}
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
        if entry.replayed:
            self.replays += 1
        if entry.lost is not None:
            self.lost[entry.lost] = self.lost.get(entry.lost, 0) + 1
        for point in entry.varied:
            self.varied[point] = self.varied.get(point, 0) + 1
        if self.listener is not None:
            self.listener(world, entry)
