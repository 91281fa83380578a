"""The watch over one world: every exchange is judged once, when somebody looks or it would be lost.

It costs the way of a request nothing. What had left the request log before the first look is counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import inf

from hosting_emulator.conduct.judges import JUDGES
from hosting_emulator.conduct.rules import SEVERITIES, ExchangeView, Finding, Line, Recent
from hosting_emulator.contract.calls import GET_OPERATION
from hosting_emulator.control_api import ConductReport
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Connection, Entry
from hosting_emulator.engine.redaction import Redactor

#: Findings of one rule that are kept, and requests that one of them names; beyond, they are counted.
MOST_FINDINGS = 100
MOST_REQUESTS = 20


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
            known.update(severity=finding.severity, says=finding.says, requests=named)

    def standing(self) -> _RuleFindings:
        """Return what was not withdrawn; what is added to it is not added here."""
        kept = [one for one in self.kept if not one.withdrawn]
        return _RuleFindings(kept, self.count - (len(self.kept) - len(kept)))


class Watch:
    """Watches one world. To be made once for it: it takes its place as the log's watcher."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._begin()
        engine.log.watcher = self

    def _begin(self) -> None:
        log = self._engine.log
        self._cleared = log.cleared
        kept = log.after(0)
        self._unseen = (kept[0].n - 1) if kept else log.count
        self._last = self._judged = self._own = 0
        self._skipping = False
        self._found: dict[str, _RuleFindings] = {}
        self._judges = [judge() for judge in JUDGES]
        self._lines: Recent[Connection, Line] = Recent()

    def look(self, off: Sequence[str] = (), *, final: bool = False) -> ConductReport:
        """Judge what is new, and say what was found; `off` are ids of rules to leave out.

        With `final` the client is done: also what can only be said then. It may go on all the same.
        """
        self._notice_replaced()
        for entry in self._engine.log.after(self._last):
            self._judge(entry)
        self._notice_returns(inf)
        found = {id_: of_rule.standing() for id_, of_rule in self._found.items()}
        for judge in self._judges if final else ():
            for finding in judge.end():
                self._note(finding, found)
        found = {id_: one for id_, one in found.items() if one.count and id_ not in off}
        findings = [finding for of_rule in found.values() for finding in of_rule.kept]
        skipping = "While polling moved the clock ahead (it skips), early polling was not checked."
        unseen = f"{_requests(self._unseen)} left the log before the first check: not checked."
        own = f"{_requests(self._own)} came from the emulator's own pages and tools: not checked."
        told = ((self._unseen, unseen), (self._skipping, skipping), (self._own, own))
        return ConductReport(
            judged=self._judged,
            unseen=self._unseen,
            findings=sorted(findings, key=lambda finding: (finding.requests[-1], finding.rule)),
            counts={id_: of_rule.count for id_, of_rule in found.items()},
            rules_off=list(off),
            remarks=[remark for applies, remark in told if applies],
        )

    def forgetting(self, entry: Entry) -> None:
        """Judge an exchange before the log forgets it."""
        self._notice_replaced()
        if entry.n > self._last:
            self._judge(entry)

    def _notice_replaced(self) -> None:
        if self._engine.log.cleared != self._cleared:  # another world has taken this one's place
            self._begin()

    def _judge(self, entry: Entry) -> None:
        self._notice_returns(entry.n)
        self._last, place = entry.n, entry.connection
        if entry.from_emulator:
            self._own += 1
            return
        self._judged += 1
        line = self._lines.get(place) or self._lines.keep(place, Line(place))
        exchange = ExchangeView(entry, line)
        if entry.call == GET_OPERATION.call_id and entry.world.clock.mode == "skip":
            self._skipping = True
        for judge in self._judges:
            for finding in judge.see(exchange):
                self._note(finding, self._found)
        exchange.shed()

    def _notice_returns(self, following: float) -> None:
        """Where the world was put back, what went before is not held against what comes."""
        if any(self._last <= turned < following for turned in self._engine.log.turned):
            self._judges = [judge.after_return() for judge in self._judges]

    def _note(self, finding: Finding, found: dict[str, _RuleFindings]) -> None:
        finding["says"] = Redactor(self._engine.world).text(finding.says)
        found.setdefault(finding.rule, _RuleFindings()).add(finding)


def watch_of(engine: Engine) -> Watch:
    """Return the watch over a world; the first look begins it."""
    watcher = engine.log.watcher
    return watcher if isinstance(watcher, Watch) else Watch(engine)


def _requests(count: int) -> str:
    return f"{count:,} request{'' if count == 1 else 's'}"
