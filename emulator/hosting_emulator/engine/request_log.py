"""The request log of one world: a ring buffer of its latest exchanges.

Entries are stored with their secrets, which are removed when an entry is shown (see `request_views`
and `redaction`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.exchange import Entry, ExchangeContext
from hosting_emulator.engine.machine_clock import stopwatch_ns
from hosting_emulator.engine.observers import EndReason, LogObserver, notify
from hosting_emulator.engine.redaction import beginning

#: The maximum number of exchanges in a log.
CAPACITY = 1000
#: The maximum number of bytes that a log stores of each body.
BODY_KEPT = 16 * 1024
#: The maximum number of rewinds that a log remembers.
_MOST_REWINDS = 100


def _beginning(body: bytes) -> bytes:
    """Return the part of a long body that the log keeps. Characters are never split."""
    end = BODY_KEPT
    while end > BODY_KEPT - 3 and body[end] & 0xC0 == 0x80:
        end -= 1
    return beginning(body, end)


@dataclass(frozen=True, slots=True)
class PastLog:
    """The latest exchanges in a log that was cleared before a judge had seen it.

    `requests` is the total number of requests in that log.
    """

    entries: Sequence[Entry]
    requests: int
    reason: EndReason


class RequestLog:
    """The latest exchanges in one world."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=CAPACITY)
        #: The number of responses that were varied, by variation point.
        self.varied = Counter[str]()
        #: The number of requests received, which is also the number of the latest request.
        self.count = 0
        self._response_count = 0
        #: How many times the log has been cleared. Each time, request numbers start again at 1.
        self.cleared = 0
        #: For each rewind of the world, the number of the last request before it.
        self.rewinds: deque[int] = deque(maxlen=_MOST_REWINDS)
        #: Observers that must see every exchange before the log drops it.
        self.observers: list[LogObserver] = []
        #: Past logs that were cleared before a judge had seen them.
        self.past: deque[PastLog] = deque()
        #: The number of requests in past logs that have been dropped to limit memory use.
        self.past_unseen = 0
        #: The exchanges that are listed as being in progress, by number.
        self.in_progress: dict[int, Entry] = {}
        self._response_counts = Counter[str]()
        self._names_by_key: dict[str, str] = {}

    def name_response(self, request: str, key: str = "") -> str:
        """Return a name for a response, made up of the `request` and its ordinal among equal requests.

        Responses for the same `key` share a name.
        """
        if key and key in self._names_by_key:
            return self._names_by_key[key]
        self._response_counts[request] += 1
        name = f"{request} {self._response_counts[request]}"
        if key:
            self._names_by_key[key] = name
        return name

    def record(self, ctx: ExchangeContext, reply: Reply) -> None:
        """Record an exchange's response. If the log is full, first pass its oldest entry to the
        observers.
        """
        request_body = ctx.body
        response_body = reply.body
        ctx.status = reply.status
        ctx.content_type = reply.content_type
        ctx.response_headers = reply.headers
        if not ctx.body_bytes:
            ctx.body_bytes = len(request_body)
        if len(request_body) > BODY_KEPT:
            ctx.body = _beginning(request_body)
        ctx.response_bytes = len(response_body)
        ctx.response_body = response_body
        if len(response_body) > BODY_KEPT:
            ctx.response_body = _beginning(response_body)
        ctx.late_ms += ctx.delay_ms
        effect = ctx.effect
        if effect is not None:
            ctx.late_ms += effect.late_ms(len(response_body))
            ctx.lost = None if effect.delivers_response else effect.name
            remark = effect.deviation(len(response_body))
            if remark:
                ctx.why += (remark,)
        self._end_exchange(ctx)
        if not ctx.in_progress:
            self._append(ctx)
        if ctx.varied:
            self.varied.update(ctx.varied)

    def _end_exchange(self, entry: Entry) -> None:
        entry.took_ns = stopwatch_ns() - entry.took_ns
        self._response_count += 1
        entry.response_number = self._response_count

    def _append(self, entry: Entry) -> None:
        if self.observers and len(self._entries) == CAPACITY:
            oldest = self._entries[0]
            notify(self.observers, lambda observer: observer.on_evict(oldest))
        self._entries.append(entry)

    def hold(self, entry: Entry) -> None:
        """List an exchange as being in progress while its response has to wait."""
        if not entry.in_progress and not entry.response_number:
            self._append(entry)
        if not entry.body_bytes:
            entry.body_bytes = len(entry.body)
        entry.in_progress = True
        self.in_progress[entry.n] = entry

    def is_in_progress(self, entry: Entry) -> bool:
        """Return whether an exchange is listed as being in progress. False once the log has been
        cleared.
        """
        return self.in_progress.get(entry.n) is entry

    def release(self, entry: Entry) -> None:
        """Record that an exchange is no longer in progress."""
        if self.is_in_progress(entry):
            del self.in_progress[entry.n]
        entry.in_progress = False

    def abandon(self, entry: Entry, why: str) -> None:
        """Record that an exchange ended without a response."""
        entry.why += (why,)
        if not entry.response_number:
            self._end_exchange(entry)
        self.release(entry)

    def end(self, reason: EndReason) -> None:
        """Report the end of this log to the observers.

        Unless the world is being deleted, keep the log's entries for a later judge.
        """
        if self.observers:
            notify(self.observers, lambda observer: observer.on_end(reason))
        if self.count and reason != "deleted":
            self.past.append(PastLog(tuple(self._entries), self.count, reason))
            while sum(len(past.entries) for past in self.past) > CAPACITY:
                self.past_unseen += self.past.popleft().requests

    def clear(self) -> None:
        """Remove all entries, and start the request numbers again at 1."""
        self._entries.clear()
        self.varied.clear()
        self._response_counts.clear()
        self._names_by_key.clear()
        self.count = 0
        self.cleared += 1
        self.rewinds.clear()
        self.in_progress = {}

    def restore(self, entries: Iterable[Entry], count: int) -> None:
        """Fill an empty log with the latest entries from an earlier log that had `count` requests."""
        self._entries.extend(entries)
        for entry in self._entries:
            self.varied.update(entry.varied)
        self.count = count

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def newest(self, limit: int) -> list[Entry]:
        """Return the latest `limit` entries, newest first."""
        return list(self._entries)[::-1][:limit]

    def after(self, n: int) -> list[Entry]:
        """Return the entries with numbers greater than `n`, oldest first."""
        newest_first = list(takewhile(lambda entry: entry.n > n, reversed(self._entries)))
        return newest_first[::-1]

    def find(self, n: int) -> Entry | None:
        """Return the entry with the number `n`, or None if the entry was dropped or never existed."""
        return next((entry for entry in self._entries if entry.n == n), None)
