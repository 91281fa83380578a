"""Observations watch some or all worlds of a process. An observation lasts until a caller ends it,
or until it is evicted to make room after a day without use.

An observation sees every world in its scope, including worlds that are created, copied, reset,
loaded, replaced or deleted during the observation. It counts and judges all requests, even those
that the request logs have dropped.

The report of an observation consists of chapters. A chapter starts when the observation starts or when a
world is created. A chapter ends when its world is reset, loaded, replaced or deleted. If the world was not
deleted, a new chapter starts under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hosting_emulator.conduct.chapter import Chapter
from hosting_emulator.conduct.judge_errors import JudgeErrors
from hosting_emulator.conduct.watch import Watch
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.contract.value_texts import count_text
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.messages import (
    ChapterReport,
    ContractCoverage,
    ObservationReport,
    RequestInProgress,
    merge_coverage,
)

#: The maximum number of observations in a process.
MOST_OBSERVATIONS = 1000
#: An observation that has not been used for this many seconds may be evicted to make room.
UNUSED_S = 86_400.0
#: How many exchanges and worlds are kept, at most, from ended chapters.
MOST_ENTRIES = 10_000
MOST_WORLDS = 500
#: A report lists at most this many ended chapters that received no requests. Older ones are only
#: counted.
MOST_SILENT_CHAPTERS = 1000


class TooManyObservations(Exception):
    """Raised if the process already has the maximum number of observations."""


class _ChapterObserver:
    """Follows one world's log on behalf of one observation."""

    def __init__(self, observation: ProcessObservation, chapter: Chapter) -> None:
        self._observation = observation
        self._chapter = chapter

    def on_evict(self, entry: Entry) -> None:
        self._chapter.watch.judge_evicted(entry)

    def on_end(self, reason: EndReason) -> None:
        engine = self._chapter.engine
        self._chapter.end(reason)
        engine.log.observers.remove(self)
        self._observation.end_chapter(self._chapter)
        if reason != "deleted":
            self._observation.begin_chapter(engine, 0)

    def on_error(self, error: Exception) -> None:
        self._chapter.watch.errors.add(error, "The observation of a world")


class ProcessObservation:
    """Watches some or all worlds of a process until `close` is called.

    `names` are the names of the worlds to watch, or None for all worlds. Copies of watched worlds are
    watched too. `skip_rules` are the ids of rules to omit from reports.
    """

    def __init__(
        self, id_: str, worlds: Worlds, names: Iterable[str] | None, skip_rules: Sequence[str] = ()
    ) -> None:
        self.id = id_
        self.skip_rules = list(skip_rules)
        #: The real time of the most recent use, in seconds.
        self.used_s = 0.0
        self._worlds = worlds
        self._names = None if names is None else set(names)
        self._chapters: dict[int, Chapter] = {}
        self._next_index = 0
        self._open: dict[Engine, tuple[int, _ChapterObserver]] = {}
        self._omitted = 0
        #: The parts of the contract that clients exercised in the observations that this
        #: observation replaced.
        self._earlier_coverage: ContractCoverage | None = None
        self._errors = JudgeErrors()
        for engine in worlds:
            if self._names is None or engine.world.name in self._names:
                self.begin_chapter(engine, engine.log.count)
        self._first_count = self._next_index
        worlds.observers.append(self)

    def on_open(self, engine: Engine, source: Engine | None) -> None:
        """Watch a new world if its name is in the observation's scope, or if it is a copy of a
        watched world.
        """
        is_named = self._names is None or engine.world.name in self._names
        if is_named or (source is not None and source in self._open):
            self.begin_chapter(engine, 0)

    def on_error(self, error: Exception) -> None:
        """Record an error that the observation itself raised."""
        self._errors.add(error, "The observation")

    def watch(self, engine: Engine) -> None:
        """Start watching a world, unless the world is already watched."""
        if engine not in self._open:
            self.begin_chapter(engine, engine.log.count)

    def begin_chapter(self, engine: Engine, after: int) -> None:
        """Begin a new chapter of a world, starting with request number `after + 1`."""
        index = self._next_index
        self._next_index += 1
        chapter = Chapter(engine, after)
        self._chapters[index] = chapter
        observer = _ChapterObserver(self, chapter)
        self._open[engine] = (index, observer)
        engine.log.observers.append(observer)

    def end_chapter(self, chapter: Chapter) -> None:
        """Record that a chapter has ended, and release the data of old chapters that exceeds the
        limits.
        """
        self._open.pop(chapter.engine, None)
        self._release()

    def _release(self) -> None:
        ended = [chapter for chapter in self._chapters.values() if chapter.ended]
        unreleased = [chapter for chapter in ended if chapter.world is not None]
        entries = sum(len(chapter.entries or ()) for chapter in unreleased)
        for count, chapter in enumerate(unreleased):
            if len(unreleased) - count <= MOST_WORLDS and entries <= MOST_ENTRIES:
                break
            entries -= len(chapter.entries or ())
            chapter.release()
        silent = [
            index
            for index, chapter in self._chapters.items()
            if chapter.ended and not chapter.requests and not chapter.watch.errors.count
        ]
        for index in silent[: max(0, len(silent) - MOST_SILENT_CHAPTERS)]:
            del self._chapters[index]
            self._omitted += 1

    def close(self) -> None:
        """End the observation."""
        if self in self._worlds.observers:
            self._worlds.observers.remove(self)
        for engine, (_, observer) in self._open.items():
            if observer in engine.log.observers:
                engine.log.observers.remove(observer)
        self._open.clear()

    def has_seen_nothing(self) -> bool:
        """Return whether the observation is still as it began.

        Since it began, no request has arrived, and no world has changed. Another thread may call this
        while nothing sends requests.
        """
        return (
            self._next_index == self._first_count
            and not self._errors.count
            and all(chapter.has_seen_nothing for chapter in list(self._chapters.values()))
        )

    def chapter(self, index: int) -> Chapter | None:
        """Return the chapter with this index, or None if there is no such chapter."""
        return self._chapters.get(index)

    def watches(self) -> list[Watch]:
        """Return the watches of all chapters, oldest first."""
        return [chapter.watch for chapter in self._chapters.values()]

    def coverage(self) -> ContractCoverage:
        """Return the parts of the contract that clients exercised, including those in replaced
        observations.
        """
        parts = [watch.coverage() for watch in self.watches()]
        if self._earlier_coverage is not None:
            parts.append(self._earlier_coverage)
        return merge_coverage(parts)

    def replace(self, earlier: ProcessObservation) -> None:
        """Take over the coverage of an earlier observation that has just ended."""
        self._earlier_coverage = earlier.coverage()

    def in_progress(self) -> list[tuple[str, Entry]]:
        """Return the world name and log entry of each request whose response has not been sent yet."""
        return [
            (engine.world.name, entry)
            for engine in self._open
            for entry in engine.log.in_progress.values()
        ]

    def report(self, *, final: bool = False) -> ObservationReport:
        """Return a report on all chapters, with their findings.

        With `final`, the report assumes that the clients have finished.
        """
        chapters = []
        errors = self._errors.texts()
        for index, chapter in self._chapters.items():
            conduct = chapter.watch.look(self.skip_rules, final=final)
            errors += [f"world {chapter.name}: {text}" for text in conduct.errors]
            chapters.append(
                ChapterReport(
                    index=index,
                    world=chapter.name,
                    began=format_timestamp(chapter.began_at_ms),
                    ended=chapter.ended,
                    requests=chapter.requests,
                    released=chapter.world is None,
                    conduct=conduct,
                )
            )
        return ObservationReport(
            id=self.id,
            requests=sum(chapter.requests for chapter in chapters),
            in_progress=[_in_progress(name, entry) for name, entry in self.in_progress()],
            chapters=chapters,
            errors=errors,
            remarks=self._remarks(),
            coverage=self.coverage(),
        )

    def _remarks(self) -> list[str]:
        released = sum(chapter.world is None for chapter in self._chapters.values())
        remarks = []
        if self._omitted:
            worlds = count_text(self._omitted, "world")
            remarks.append(f"Not listed: {worlds} that received no requests.")
        if released:
            remarks.append(
                f"The state and the requests of the first {count_text(released, 'world')} that ended "
                "were discarded. This does not affect the verdicts."
            )
        return remarks


def _in_progress(name: str, entry: Entry) -> RequestInProgress:
    path = Redactor(entry.world).text(entry.path)
    return RequestInProgress(world=name, n=entry.n, method=entry.method, path=path)


class Observations:
    """The observations of a process, by id."""

    def __init__(self) -> None:
        self._by_id: dict[str, ProcessObservation] = {}
        self._count = 0

    def begin(
        self, worlds: Worlds, names: Iterable[str] | None, skip_rules: Sequence[str], now_s: float
    ) -> ProcessObservation:
        """Begin an observation. `now_s` is the current real time in seconds.

        If the process already has `MOST_OBSERVATIONS` observations, those that have not been used
        for `UNUSED_S` seconds are ended, because their callers are probably gone. Raises
        TooManyObservations if there are none.
        """
        if len(self._by_id) >= MOST_OBSERVATIONS:
            for unused in [each for each in self._by_id.values() if each.used_s < now_s - UNUSED_S]:
                self.end(unused)
        if len(self._by_id) >= MOST_OBSERVATIONS:
            raise TooManyObservations(
                f"a process can have at most {MOST_OBSERVATIONS} observations; delete an observation first"
            )
        self._count += 1
        observation = ProcessObservation(f"observation-{self._count}", worlds, names, skip_rules)
        observation.used_s = now_s
        self._by_id[observation.id] = observation
        return observation

    def get(self, id_: str, now_s: float) -> ProcessObservation | None:
        """Return the observation with this id, or None if there is no such observation.

        `now_s` is recorded as the time at which the observation was last used.
        """
        observation = self._by_id.get(id_)
        if observation is not None:
            observation.used_s = now_s
        return observation

    def has_seen_nothing(self, id_: str) -> bool:
        """Return whether there is an observation with this id that is still as it began."""
        observation = self._by_id.get(id_)
        return observation is not None and observation.has_seen_nothing()

    def end(self, observation: ProcessObservation) -> None:
        """End an observation and remove it."""
        observation.close()
        self._by_id.pop(observation.id, None)
