"""Shrinking: the shortest part of a record that still shows an answer, found by trying.

Delta debugging: parts of the record are left out, ever smaller ones, and what still shows the
answer without them goes on. Each try is in a world of its own, forked from one beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hosting_emulator.replay.record import Record, Recorded
from hosting_emulator.replay.replay import Options, Replayed, Replaying
from hosting_emulator.replay.showing import Shows, code_of
from hosting_emulator.replay.worlds import Beginning, like_recorded
from hosting_emulator.sdk import ControlClient, HostingEmulator, JsonObject

Requests = tuple[Recorded, ...]
T = TypeVar("T")


class NotShown(ValueError):
    """No request of the record is answered so; the message says what comes nearest."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The requests that are left: the last one's answer is the one that was to be shown.

    `runs` is how many worlds were tried; `shortest`: without any single one of the requests it is
    not shown. `har` is their record, as it was answered in the last try.
    """

    requests: Requests
    of: int
    runs: int
    shortest: bool
    har: JsonObject


def shrink(
    control: ControlClient,
    record: Record,
    shows: Shows,
    *,
    beginning: Beginning | None = None,
    options: Options | None = None,
    max_runs: int = 500,
) -> Shrunk:
    """Find the shortest part of a record that shows an answer, in at most `max_runs` + 2 worlds.

    Raises NotShown, ControlError.
    """
    options = options or Options()
    with like_recorded(control, record, beginning or Beginning()) as base:
        trying = _Trying(base, record, shows, options)
        before, shown = trying.first()
        requests, shortest = _reduce(
            before, lambda kept: trying.shown((*kept, shown)), lambda: trying.runs <= max_runs
        )
        har = trying.record_of((*requests, shown))
    return Shrunk((*requests, shown), len(record.requests), trying.runs, shortest, har)


class _Trying:
    """Tries parts of a record, each in a fork of one world."""

    def __init__(
        self, base: HostingEmulator, record: Record, shows: Shows, options: Options
    ) -> None:
        self._base = base
        self._record = record
        self._shows = shows
        self._options = options
        self.runs = 0

    def first(self) -> tuple[Requests, Recorded]:
        """Return the first request that shows the answer, and those before it. Raises NotShown."""
        with self._base.fork() as world:
            done: list[Replayed] = []
            for one in self._sent(world, self._record.requests):
                if self._shows.by(one):
                    return tuple(before.recorded for before in done), one.recorded
                done.append(one)
        raise NotShown(self._nearest(done))

    def shown(self, requests: Requests) -> bool:
        """Whether the last of some requests is answered so."""
        with self._base.fork() as world:
            return self._shows.by(list(self._sent(world, requests))[-1])

    def record_of(self, requests: Requests) -> JsonObject:
        """Send some requests, and return what came of it as an HTTP Archive."""
        with self._base.fork() as world:
            list(self._sent(world, requests))
            return world.control.har(world.name, state=True)

    def _sent(self, world: HostingEmulator, requests: Requests) -> Iterator[Replayed]:
        self.runs += 1
        summary = world.control.world(world.name)
        replaying = Replaying(world.control, self._record, summary, self._options)
        try:
            yield from replaying.go(requests)
        finally:
            replaying.close()

    def _nearest(self, done: Sequence[Replayed]) -> str:
        meant = [one for one in done if self._shows.about(one.recorded)]
        if not meant:
            return "no request of the record is the one that is to show it"
        before = next((m for m in meant if self._shows.answered(m.recorded.answer)), None)
        if before is not None:
            return (
                f"request {before.recorded.n} was answered so when it was recorded, but now it is "
                f"answered {_words(before)}"
            )
        last = meant[-1]
        return f"no request is answered so; request {last.recorded.n} is answered {_words(last)}"


def _words(one: Replayed) -> str:
    if one.answer is None:
        return "by nothing"
    code = code_of(one.answer)
    return f"{one.answer.status} {code}" if code else str(one.answer.status)


def _reduce(
    items: tuple[T, ...], holds: Callable[[tuple[T, ...]], bool], may_go_on: Callable[[], bool]
) -> tuple[tuple[T, ...], bool]:
    """Leave out what is not needed for `holds`: the `ddmin` of delta debugging (Zeller, 2002).

    Returns what is left, and whether each of it is needed (or time ran out).
    """
    if not items or holds(()):
        return (), True
    parts = 2
    while len(items) >= 2:
        size = -(-len(items) // parts)
        kept = None
        for start in range(0, len(items), size):
            if not may_go_on():
                return items, False
            without = items[:start] + items[start + size :]
            if holds(without):
                kept = without
                break
        if kept is not None:
            items, parts = kept, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(parts * 2, len(items))
    return items, True
