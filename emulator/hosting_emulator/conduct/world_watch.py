"""Watches one world as long as it exists, across resets and loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from hosting_emulator.conduct.chapter import Chapter
from hosting_emulator.conduct.watch import Watch, requests_text
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.engine.request_log import PastLog
from hosting_emulator.messages import ConductReport


class WorldWatch:
    """Judges the requests to one world as long as it exists, across resets and loads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        #: The chapters that have ended, oldest first.
        self._ended: list[Chapter] = []
        #: How many requests from ended chapters the log dropped before they were judged.
        self._unseen = engine.log.past_unseen
        self._restarts = engine.starts
        for past in engine.log.past:
            self._unseen += past.requests - len(past.entries)
            self._ended.append(_past_chapter(engine, past))
        engine.log.past.clear()
        engine.log.past_unseen = 0
        entries = engine.log.after(0)
        unseen = entries[0].n - 1 if entries else engine.log.count
        self._chapter = Chapter(engine, 0, unseen=unseen)
        engine.log.observers.append(self)

    @property
    def current(self) -> Watch:
        """The watch over the current chapter."""
        return self._chapter.watch

    def begin_anew(self) -> None:
        """Discard all findings, and judge only requests that arrive after this call."""
        self._ended = []
        self._unseen = 0
        self._restarts = 0
        self._chapter = Chapter(self._engine, self._engine.log.count)

    def look(self, skip_rules: Sequence[str] = (), *, final: bool = False) -> ConductReport:
        """Return a report on all chapters. The parameters are the same as those of `Watch.look`.

        In a finding from an earlier chapter, request numbers refer to that chapter's log.
        """
        report = self._chapter.watch.look(skip_rules, final=final)
        earlier = [chapter.watch.look(skip_rules, final=final) for chapter in self._ended]
        findings = [
            replace(finding, chapter=f"before the world was {chapter.ended}")
            for chapter, part in zip(self._ended, earlier, strict=True)
            for finding in part.findings
        ]
        counts = Counter[str]()
        parts = (*earlier, report)
        for part in parts:
            counts.update(part.counts)
        remarks = (text for part in parts for text in part.remarks)
        return ConductReport(
            judged=sum(part.judged for part in parts),
            unseen=report.unseen + self._unseen,
            findings=[*findings, *report.findings],
            counts=dict(counts),
            skipped_rules=report.skipped_rules,
            remarks=[*dict.fromkeys(remarks), *self._remarks()],
            errors=[text for part in parts for text in part.errors],
            complete=not (report.unseen or self._unseen or self._restarts),
        )

    def _remarks(self) -> list[str]:
        remarks = []
        if self._unseen:
            remarks.append(
                f"Not checked: {requests_text(self._unseen)} from before the world was last reset, "
                "loaded or replaced. The log dropped these requests before the first check."
            )
        if self._restarts:
            began = format_timestamp(self._chapter.began_at_ms)
            remarks.append(
                f"Requests before {began} (world time) were not checked, because the emulator "
                "has been restarted since."
            )
        return remarks

    def on_evict(self, entry: Entry) -> None:
        """Judge an exchange before the log drops it."""
        self._chapter.watch.judge_evicted(entry)

    def on_end(self, reason: EndReason) -> None:
        """Judge the remaining exchanges before the log is cleared, and begin a new chapter."""
        self._chapter.end(reason, keep=False)
        if self._chapter.requests:
            self._ended.append(self._chapter)
        self._chapter = Chapter(self._engine, 0)

    def on_error(self, error: Exception) -> None:
        """Record an error that the watch itself raised."""
        self._chapter.watch.errors.add(error, "The watch")


def watch_of(engine: Engine) -> WorldWatch:
    """Return the watch over a world. The first call for a world starts it."""
    for observer in engine.log.observers:
        if isinstance(observer, WorldWatch):
            return observer
    return WorldWatch(engine)


def _past_chapter(engine: Engine, past: PastLog) -> Chapter:
    """Return the ended chapter of a log that was cleared before the watch began.

    The chapter gets a separate engine, because the requests in the current log belong to a later
    chapter.
    """
    past_engine = Engine(engine.world, Keeper(), lambda: engine.machine_ms)
    past_engine.log.restore(past.entries, past.requests)
    chapter = Chapter(past_engine, 0)
    chapter.end(past.reason, keep=False)
    return chapter
