"""Counts the exchanges and commits in a process.

All worlds share the same counts, because tests create thousands of worlds.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import Commit
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.requests")
#: The upper bounds of the histogram buckets for the time spent in the engine, in nanoseconds.
BUCKETS_NS = (10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000, 100_000_000)


@dataclass(slots=True)
class Count:
    """Statistics about requests with the same call and status: their number, total time and time
    histogram.

    `buckets` has one element more than BUCKETS_NS, for times above the last bound.
    """

    requests: int = 0
    took_ns: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_NS) + 1))


class Tally:
    """The counts for one process, by call and status.

    The call is "" if the request matches no call. The status is 0 if there was no response. `listener`
    is called with each exchange and its world, after the exchange has been counted.
    `commit_listener` is called with each commit.
    """

    def __init__(self) -> None:
        self.listener: Callable[[World, Entry], None] | None = None
        self.commit_listener: Callable[[Commit], None] | None = None
        self.exchanges: dict[tuple[str, int], Count] = {}
        self.replays = 0
        self.lost = Counter[str]()
        #: The number of responses that were varied, by variation point.
        self.varied = Counter[str]()
        self.commits = 0

    def add_commit(self, commit: Commit) -> None:
        """Count a commit, and call the listener."""
        self.commits += 1
        if self.commit_listener is not None:
            try:
                self.commit_listener(commit)
            except Exception as error:  # a failed listener must not affect the client's request
                _log.error("a commit could not be logged", exc_info=error)

    def add(self, world: World, entry: Entry) -> None:
        """Count an exchange in a world, and call the listener."""
        key = (entry.call or "", entry.status)
        count = self.exchanges.get(key)
        if count is None:
            count = Count()
            self.exchanges[key] = count
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
            except Exception as error:  # a failed listener must not affect the client's request
                _log.error("a request could not be logged", exc_info=error)
