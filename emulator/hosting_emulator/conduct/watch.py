"""The watch over one world: every exchange is judged once, when somebody looks or it would be lost.

It costs the way of a request nothing. An error in a judge is recorded and reported with the findings;
the judging goes on without it.
"""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from operator import attrgetter

from msgspec.structs import replace

from hosting_emulator.conduct.judges import JUDGES
from hosting_emulator.conduct.rules import (
    SEVERITIES,
    ConductJudge,
    ExchangeView,
    Finding,
    Line,
    Recent,
)
from hosting_emulator.contract.calls import GET_OPERATION
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.connection import Connection
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.faults.usage import UsageCounter
from hosting_emulator.messages import ConductFinding, ConductReport
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.conduct")
#: Findings of one rule that are kept, and requests that one of them names; beyond, they are counted.
MOST_FINDINGS = 100
MOST_REQUESTS = 20
#: How many errors of judges are kept in words; beyond, they are counted.
MOST_ERRORS = 10


@dataclass(slots=True)
class _RuleFindings:
    """The findings of one rule: those kept, and how many there were in all."""

    kept: list[Finding] = field(default_factory=list)
    count: int = 0
    _groups: dict[Hashable, Finding] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Keep a finding, or add it to that of its group."""
        known = self._groups.get(finding.group) if finding.group is not None else None
        if known is None:
            self.count += 1
            if len(self.kept) < MOST_FINDINGS:
                self.kept.append(finding)
                self._groups[finding.group] = finding
            return
        new = [n for n in finding.requests if n > known.last]
        known.last = max(known.last, *finding.requests)
        room = max(0, MOST_REQUESTS - len(known.requests))
        known["requests"] += new[:room]
        known["more_requests"] += len(new[room:])
        known["at"] = finding.at
        if SEVERITIES.index(finding.severity) > SEVERITIES.index(known.severity):
            room = MOST_REQUESTS - len(finding.requests)
            named = sorted({*known.requests[:room], *finding.requests})
            known.update(severity=finding.severity, message=finding.message, requests=named)

    def standing(self) -> _RuleFindings:
        """Return what was not withdrawn; what is added to it is not added here."""
        kept = [one for one in self.kept if not one.withdrawn]
        return _RuleFindings(kept, self.count - (len(self.kept) - len(kept)))


class JudgeErrors:
    """The errors that judges raised: the first ones in words, and how many there were."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.count = 0

    def add(self, error: Exception, judge: str) -> None:
        """Record an error of a judge, and log its traceback if it is among the first."""
        self.count += 1
        if self.count > MOST_ERRORS:
            return
        self._texts.append(f"{judge} failed: {type(error).__name__}: {error}"[:500])
        _log.error("%s failed while it judged a client", judge, exc_info=error)

    def texts(self) -> list[str]:
        """Return the errors in words, and how many more there were."""
        more = self.count - len(self._texts)
        rest = [f"{more:,} more errors of judges"] if more else []
        return [*self._texts, *rest]

    @contextmanager
    def recorded(self, judge: str) -> Iterator[None]:
        """Record an error of a judge instead of raising it."""
        try:
            yield
        except Exception as error:
            self.add(error, judge)


class Watch:
    """Judges the exchanges of one chapter: one world from the request after a number to its end.

    It looks at the log when it is asked. Whoever owns it calls `judge_evicted` before an exchange
    leaves the log, and `close` before the log is cleared.
    """

    def __init__(self, engine: Engine, after: int = 0, *, unseen: int = 0) -> None:
        self._engine = engine
        self._unseen = unseen
        #: Up to which number exchanges were seen, and the highest number that was judged.
        self._seen = after
        self._last = after
        #: Exchanges that were seen and are not judged yet: most of them were in progress.
        self._pending: list[Entry] = []
        self._judged = 0
        self._own = 0
        self._skipping = False
        self._world = engine.world
        self._found: dict[str, _RuleFindings] = {}
        self._judges: list[ConductJudge] = [judge() for judge in JUDGES]
        self._lines: Recent[Connection, Line] = Recent()
        self.errors = JudgeErrors()
        #: The standing findings once the chapter has ended: before, and after the final judgement.
        self._closed: tuple[dict[str, _RuleFindings], dict[str, _RuleFindings]] | None = None

    def look(self, skip_rules: Sequence[str] = (), *, final: bool = False) -> ConductReport:
        """Judge what is new, and report what was found; `skip_rules` are ids of rules to leave out.

        With `final` the client is done: also what can only be said then. It may go on all the same.
        """
        found = self._standing(final=final)
        found = {id_: one for id_, one in found.items() if one.count and id_ not in skip_rules}
        findings = [finding for of_rule in found.values() for finding in of_rule.kept]
        return ConductReport(
            judged=self._judged,
            unseen=self._unseen,
            findings=sorted(findings, key=lambda finding: (finding.requests[-1], finding.rule)),
            counts={id_: of_rule.count for id_, of_rule in found.items()},
            skipped_rules=list(skip_rules),
            remarks=self._remarks(),
            errors=self.errors.texts(),
            complete=not self._unseen,
        )

    def judge_some(self, most: int) -> bool:
        """Judge at most so many of the new exchanges. Return whether there are more."""
        return self._closed is None and self._judge_new(most)

    def judge_all(self, entries: Sequence[Entry]) -> None:
        """Judge exchanges that the log has already dropped."""
        for entry in sorted(entries, key=attrgetter("response_number")):
            self._judge(entry)

    def judge_evicted(self, entry: Entry) -> None:
        """Judge an exchange before the log drops it."""
        if self._closed is not None or entry.n <= self._seen:
            return
        self._seen = entry.n
        if entry.in_progress:
            self._pending.append(entry)
            return
        for earlier in [
            one for one in self._pending if 0 < one.response_number < entry.response_number
        ]:
            if not earlier.in_progress:
                self._pending.remove(earlier)
                self._judge(earlier)
        self._judge(entry)

    def close(self) -> None:
        """Judge the rest of the log, and release everything but the findings."""
        if self._closed is not None:
            return
        now = self._standing(final=False)
        self._closed = (now, self._standing(final=True))
        self._judges = []
        self._lines = Recent()

    def _remarks(self) -> list[str]:
        skipping = "While polling moved the clock ahead (it skips), early polling was not checked."
        unseen = f"{_requests(self._unseen)} left the log before the first check: not checked."
        own = f"{_requests(self._own)} came from the emulator's own pages and tools: not checked."
        remarks = ((self._unseen, unseen), (self._skipping, skipping), (self._own, own))
        return [remark for applies, remark in remarks if applies]

    def _standing(self, *, final: bool) -> dict[str, _RuleFindings]:
        """Judge what is new, and return the findings that no later request refuted."""
        if self._closed is not None:
            return self._closed[final]
        self._judge_new()
        self._notice_returns(inf)
        found, judges = self._found, self._judges
        # Nobody waits any longer for the response of a request whose client has gone.
        waiting = [entry for entry in self._pending if final or _is_abandoned(entry)]
        if waiting:
            found, judges = self._with_unanswered(waiting)
        found = {id_: of_rule.standing() for id_, of_rule in found.items()}
        for judge in judges if final else ():
            with self.errors.recorded(type(judge).__name__):
                for finding in judge.end():
                    self._note(finding, found)
        return found

    def _judge_new(self, most: int | None = None) -> bool:
        """Judge what was answered since the last time, in the order in which it was answered.

        Return whether there are more than `most`.
        """
        entries = [*self._pending, *self._engine.log.after(self._seen)]
        if not entries:
            return False
        self._seen = max(self._seen, entries[-1].n)
        ready = [entry for entry in entries if not entry.in_progress]
        ready.sort(key=attrgetter("response_number"))
        count = len(ready) if most is None else most
        self._pending = [entry for entry in entries if entry.in_progress] + ready[count:]
        for entry in ready[:count]:
            self._judge(entry)
        return len(ready) > count

    def _with_unanswered(
        self, entries: Sequence[Entry]
    ) -> tuple[dict[str, _RuleFindings], list[ConductJudge]]:
        """Return findings and judges that also saw requests in progress, as ones without a response.

        They are copies: the requests may still be answered, and are judged again then.
        """
        kept = (self._found, self._judges)
        counts = (self._judged, self._last, self._own)
        lines = [(line, line.count, line.last) for line in self._lines.values()]
        try:
            self._found, self._judges = copy.deepcopy(kept)
            for entry in entries:
                self._judge(_unanswered(entry, self._engine))
            return self._found, self._judges
        finally:
            self._found, self._judges = kept
            self._judged, self._last, self._own = counts
            for line, count, last in lines:
                line.count = count
                line.last = last

    def _judge(self, entry: Entry) -> None:
        self._notice_returns(entry.n)
        self._last = max(self._last, entry.n)
        self._world = entry.world
        if entry.from_emulator:
            self._own += 1
            return
        self._judged += 1
        with self.errors.recorded(f"The judgement of request {entry.n}"):
            self._judge_exchange(entry)

    def _judge_exchange(self, entry: Entry) -> None:
        place = entry.connection
        line = self._lines.get(place) or self._lines.keep(place, Line(place))
        exchange = ExchangeView(entry, line)
        if entry.call == GET_OPERATION.call_id and entry.world.clock.mode == "skip":
            self._skipping = True
        for judge in self._judges:
            with self.errors.recorded(f"{type(judge).__name__} at request {entry.n}"):
                for finding in judge.see(exchange):
                    self._note(finding, self._found)
        exchange.shed()

    def _notice_returns(self, following: float) -> None:
        """Where the world was put back, what went before is not held against what comes."""
        if any(self._last <= turned < following for turned in self._engine.log.rewinds):
            self._judges = [judge.after_return() for judge in self._judges]

    def _note(self, finding: Finding, found: dict[str, _RuleFindings]) -> None:
        finding["message"] = Redactor(self._world).text(finding.message)
        found.setdefault(finding.rule, _RuleFindings()).add(finding)


def _is_abandoned(entry: Entry) -> bool:
    return entry.passage is not None and entry.passage.is_abandoned


def _unanswered(entry: Entry, engine: Engine) -> Entry:
    """Return an exchange in progress as its client sees it now: there is no response."""
    engine.now_ms()
    late_ms = max(1, engine.machine_ms - entry.real_ms)
    return replace(
        entry, status=0, code=None, lost="no_response_yet", response_body=b"", late_ms=late_ms
    )


class Chapter:
    """One life of one world name, as one judge sees it: from a request on until the world's end.

    Once it has ended it holds the world as it was, and its last exchanges, until `shed`.
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
        return self._requests if self.ended else self.engine.log.count - self._after

    @property
    def world(self) -> World | None:
        """The world as it is, or as it was at the end. None: it was released."""
        return self._world if self.ended else self.engine.world

    @property
    def entries(self) -> list[Entry] | None:
        """The last exchanges, oldest first. None: they were released."""
        return self._entries if self.ended else self.engine.log.after(self._after)

    @property
    def usage(self) -> UsageCounter:
        """The counts of the world's faults and outcomes."""
        return self._usage if self.ended else self.engine.usage

    def end(self, reason: EndReason, *, keep: bool = True) -> None:
        """Judge everything that is left. Keep the world and the log if `keep` is set."""
        self.watch.close()
        requests, entries = self.requests, self.entries
        self._requests = requests
        self._usage = self.engine.usage
        self.ended = reason
        self.ended_machine_ms = self.engine.machine_ms
        self._entries = entries if keep else None
        self._world = self.engine.world if keep else None

    def shed(self) -> None:
        """Release the world and the exchanges; the verdict and the counts stay."""
        self._entries = None
        self._world = None
        self.first_world = None


class WorldWatch:
    """The watch over one world for as long as it is there, resets and loads included."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        #: Chapters that ended, the latest ones; and how many requests of earlier ones were judged.
        self._ended: list[Chapter] = []
        self._unseen = engine.log.past_unseen
        self._restarts = engine.starts
        for past in engine.log.past:
            chapter = Chapter(engine, 0)
            chapter.watch.judge_all(past.entries)
            self._unseen += past.requests - len(past.entries)
            chapter.end(past.reason, keep=False)
            self._ended.append(chapter)
        engine.log.past.clear()
        engine.log.past_unseen = 0
        kept = engine.log.after(0)
        unseen = (kept[0].n - 1) if kept else engine.log.count
        self._chapter = Chapter(engine, 0, unseen=unseen)
        engine.log.observers.append(self)

    @property
    def current(self) -> Watch:
        """The watch over the chapter that goes on."""
        return self._chapter.watch

    def begin_anew(self) -> None:
        """Forget the verdict; judge from the next request on."""
        self._ended = []
        self._unseen = 0
        self._restarts = 0
        self._chapter = Chapter(self._engine, self._engine.log.count)

    def look(self, skip_rules: Sequence[str] = (), *, final: bool = False) -> ConductReport:
        """Report what was found so far, in all chapters; see `Watch.look`.

        The requests of a finding in an earlier chapter are numbers of that chapter's log.
        """
        report = self._chapter.watch.look(skip_rules, final=final)
        earlier = [chapter.watch.look(skip_rules, final=final) for chapter in self._ended]
        findings = [
            ConductFinding({**finding, "chapter": f"before the world was {chapter.ended}"})
            for chapter, part in zip(self._ended, earlier, strict=True)
            for finding in part.findings
        ]
        counts = Counter[str]()
        parts = (*earlier, report)
        for part in parts:
            counts.update(part.counts)
        remarks = (text for part in parts for text in part.remarks)
        return ConductReport(
            {
                **report,
                "judged": sum(part.judged for part in parts),
                "unseen": report.unseen + self._unseen,
                "findings": [*findings, *report.findings],
                "counts": dict(counts),
                "remarks": [*dict.fromkeys(remarks), *self._remarks()],
                "errors": [text for part in parts for text in part.errors],
                "complete": not (report.unseen or self._unseen or self._restarts),
            }
        )

    def _remarks(self) -> list[str]:
        remarks = []
        if self._unseen:
            remarks.append(
                f"{_requests(self._unseen)} before a reset left the log before the first check: "
                "not checked."
            )
        if self._restarts:
            began = format_timestamp(self._chapter.began_at_ms)
            remarks.append(
                f"The emulator was restarted: requests before {began} (world time) were not checked."
            )
        return remarks

    def on_evict(self, entry: Entry) -> None:
        """Judge an exchange before the log drops it."""
        self._chapter.watch.judge_evicted(entry)

    def on_end(self, reason: EndReason) -> None:
        """Judge the rest of the log before it is cleared, and begin another chapter."""
        self._chapter.end(reason, keep=False)
        if self._chapter.requests:
            self._ended.append(self._chapter)
        self._chapter = Chapter(self._engine, 0)

    def on_error(self, error: Exception) -> None:
        """Record an error of the watch itself."""
        self._chapter.watch.errors.add(error, "The watch")


def watch_of(engine: Engine) -> WorldWatch:
    """Return the watch over a world; the first look begins it."""
    for observer in engine.log.observers:
        if isinstance(observer, WorldWatch):
            return observer
    return WorldWatch(engine)


def _requests(count: int) -> str:
    return f"{count:,} request{'' if count == 1 else 's'}"
