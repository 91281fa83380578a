"""Watches one chapter of a world and judges each exchange once.

An exchange is judged when a report is requested, when `judge_some` is called, when the log is about
to drop the exchange, or when the watch is closed. A request is judged only after its response has
been sent, so that judging does not delay the response. If a judge raises an error, the report
includes the error, and judging continues.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from math import inf
from operator import attrgetter

from msgspec.structs import replace

from hosting_emulator.conduct.coverage import CoverageCounter
from hosting_emulator.conduct.exchange_view import ConnectionUse, ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.judge_errors import JudgeErrors
from hosting_emulator.conduct.judges import JUDGES
from hosting_emulator.conduct.recent import Recent
from hosting_emulator.conduct.rule_findings import RuleFindings
from hosting_emulator.contract.calls import GET_OPERATION
from hosting_emulator.contract.value_texts import count_text
from hosting_emulator.engine.connection import Connection
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.messages import ConductReport, ContractCoverage

#: Findings by rule id.
_Findings = dict[str, RuleFindings]


class Watch:
    """Judges the exchanges of one chapter, starting with request number `after + 1`.

    The watch reads the log only for a report, in `judge_some`, and in `close`. Its owner must call
    `judge_evicted` before the log drops an exchange, and `close` before the log is cleared.
    `unseen` is the number of requests that the log dropped before the watch was created.
    """

    def __init__(self, engine: Engine, after: int = 0, *, unseen: int = 0) -> None:
        self._engine = engine
        self._unseen = unseen
        #: The number of the most recent exchange that was read from the log.
        self._seen = after
        #: The highest request number among the judged exchanges.
        self._last = after
        #: Exchanges that were read but have not been judged, usually because they were still in
        #: progress.
        self._pending: list[Entry] = []
        self._judged_count = 0
        #: The number of requests from the emulator's own pages and tools.
        self._own_count = 0
        #: The number of requests that faults delivered a second time.
        self._fault_count = 0
        self._has_skip_clock = False
        self._world = engine.world
        self._findings: _Findings = {}
        self._judges: list[ConductJudge] = [judge() for judge in JUDGES]
        self._uses: Recent[Connection, ConnectionUse] = Recent()
        self.errors = JudgeErrors()
        self._coverage = CoverageCounter()
        #: The findings when `close` was called, without and with `final`. None before that.
        self._closed: tuple[_Findings, _Findings] | None = None

    def look(self, skip_rules: Sequence[str] = (), *, final: bool = False) -> ConductReport:
        """Judge all new exchanges and return the report. `skip_rules` are the ids of the rules to
        omit.

        With `final`, the report assumes that the client has finished, and includes findings about
        unfinished work. Requests that arrive later are still judged.
        """
        standing = {
            id_: rule_findings
            for id_, rule_findings in self._standing(final=final).items()
            if rule_findings.count and id_ not in skip_rules
        }
        findings = [
            finding for rule_findings in standing.values() for finding in rule_findings.findings
        ]
        findings.sort(key=lambda finding: (finding.requests[-1], finding.rule))
        return ConductReport(
            judged=self._judged_count,
            unseen=self._unseen,
            findings=[finding.as_message() for finding in findings],
            counts={id_: rule_findings.count for id_, rule_findings in standing.items()},
            skipped_rules=list(skip_rules),
            remarks=self._remarks(),
            errors=self.errors.texts(),
            complete=not self._unseen,
        )

    def judge_some(self, most: int) -> bool:
        """Judge at most `most` new exchanges, and return whether any are left to judge."""
        return self._closed is None and self._judge_new(most)

    def coverage(self) -> ContractCoverage:
        """Judge all new exchanges, and return the parts of the contract that the client exercised."""
        if self._closed is None:
            self._judge_new()
        return self._coverage.coverage()

    def judge_evicted(self, entry: Entry) -> None:
        """Judge an exchange before the log drops it."""
        if self._closed is not None or entry.n <= self._seen:
            return
        self._seen = entry.n
        if entry.in_progress:
            self._pending.append(entry)
            return
        earlier_entries = [
            earlier
            for earlier in self._pending
            if 0 < earlier.response_number < entry.response_number
        ]
        earlier_entries.sort(key=attrgetter("response_number"))
        for earlier in earlier_entries:
            if not earlier.in_progress:
                self._pending.remove(earlier)
                self._judge(earlier)
        self._judge(entry)

    def close(self) -> None:
        """Judge the remaining exchanges, and release everything except the findings."""
        if self._closed is not None:
            return
        findings = self._standing(final=False)
        self._closed = (findings, self._standing(final=True))
        self._judges = []
        self._uses = Recent()

    def _remarks(self) -> list[str]:
        remarks = []
        if self._unseen:
            requests = requests_text(self._unseen)
            remarks.append(f"Not checked: {requests} that left the log before the first check.")
        if self._has_skip_clock:
            remarks.append(
                "Early polling was not checked, because in `skip` mode each poll moves the clock."
            )
        if self._own_count:
            requests = requests_text(self._own_count)
            remarks.append(f"Not checked: {requests} from the emulator's own pages and tools.")
        if self._fault_count:
            requests = requests_text(self._fault_count)
            remarks.append(f"Not checked: {requests} that faults delivered a second time.")
        return remarks

    def _standing(self, *, final: bool) -> _Findings:
        """Judge all new exchanges, and return the findings that no later request has refuted."""
        if self._closed is not None:
            return self._closed[final]
        self._judge_new()
        self._notice_rewinds(inf)
        findings = self._findings
        judges = self._judges
        # Judge abandoned requests now, because a client that disconnected never gets a response.
        in_progress = [entry for entry in self._pending if final or _is_abandoned(entry)]
        if in_progress:
            findings, judges = self._with_requests_in_progress(in_progress)
        standing = {id_: rule_findings.standing() for id_, rule_findings in findings.items()}
        if final:
            for judge in judges:
                with self.errors.recorded(type(judge).__name__):
                    for finding in judge.end():
                        self._note(finding, standing)
        return standing

    def _judge_new(self, most: int | None = None) -> bool:
        """Judge the exchanges whose responses were sent since the last call, in the order of the
        responses.

        Judges at most `most` exchanges, or all if `most` is None. Returns whether any are left to judge.
        """
        entries = [*self._pending, *self._engine.log.after(self._seen)]
        if not entries:
            return False
        self._seen = max(self._seen, entries[-1].n)
        ready = [entry for entry in entries if not entry.in_progress]
        ready.sort(key=attrgetter("response_number"))
        count = len(ready) if most is None else most
        waiting = [entry for entry in entries if entry.in_progress]
        self._pending = [*waiting, *ready[count:]]
        for entry in ready[:count]:
            self._judge(entry)
        return len(ready) > count

    def _with_requests_in_progress(
        self, entries: Sequence[Entry]
    ) -> tuple[_Findings, list[ConductJudge]]:
        """Judge requests in progress as if they had received no response, and return the findings
        and judges.

        The returned findings and judges are copies. If a request still gets a response, the
        original judges judge it again.
        """
        originals = (self._findings, self._judges)
        counts = (self._judged_count, self._last, self._own_count, self._fault_count)
        uses = [(use, use.count, use.last) for use in self._uses.values()]
        try:
            self._findings, self._judges = copy.deepcopy(originals)
            for entry in entries:
                self._judge(_without_response(entry, self._engine))
            return self._findings, self._judges
        finally:
            self._findings, self._judges = originals
            self._judged_count, self._last, self._own_count, self._fault_count = counts
            for use, count, last in uses:
                use.count = count
                use.last = last

    def _judge(self, entry: Entry) -> None:
        self._notice_rewinds(entry.n)
        self._last = max(self._last, entry.n)
        self._world = entry.world
        if entry.from_emulator:
            self._own_count += 1
            return
        if entry.second_delivery_of:
            self._fault_count += 1
            return
        self._judged_count += 1
        with self.errors.recorded(f"The judgment of request {entry.n}"):
            self._judge_exchange(entry)

    def _judge_exchange(self, entry: Entry) -> None:
        connection = entry.connection
        use = self._uses.get(connection)
        if use is None:
            use = self._uses.keep(connection, ConnectionUse(connection))
        exchange = ExchangeView(_as_received(entry), use)
        if entry.call == GET_OPERATION.call_id and entry.world.clock.mode == "skip":
            self._has_skip_clock = True
        for judge in self._judges:
            with self.errors.recorded(f"{type(judge).__name__} at request {entry.n}"):
                for finding in judge.observe(exchange):
                    self._note(finding, self._findings)
        self._coverage.add(exchange)
        exchange.shrink()

    def _notice_rewinds(self, following: float) -> None:
        """Replace the judges if the world was rewound after the last judged request.

        `following` is the number of the request that is judged next. Requests before a rewind must not
        count against requests after the rewind.
        """
        if any(self._last <= number < following for number in self._engine.log.rewinds):
            self._judges = [judge.after_rewind() for judge in self._judges]

    def _note(self, finding: Finding, findings: _Findings) -> None:
        finding.message = Redactor(self._world).text(finding.message)
        findings.setdefault(finding.rule, RuleFindings()).add(finding)


def requests_text(count: int) -> str:
    """Format a number of requests, for example `1,200 requests`."""
    return count_text(count, "request")


def _is_abandoned(entry: Entry) -> bool:
    return entry.passage is not None and entry.passage.is_abandoned


def _as_received(entry: Entry) -> Entry:
    """Return an exchange with the response that its client received.

    If a fault delivered the request twice, the client may have received the response to the other
    delivery.
    """
    delivered = entry.delivered
    if delivered is entry:
        return entry
    return replace(
        entry,
        status=delivered.status,
        code=delivered.code,
        replayed=delivered.replayed,
        lost=delivered.lost,
        response_headers=delivered.response_headers,
        content_type=delivered.content_type,
        response_body=delivered.response_body,
        response_bytes=delivered.response_bytes,
        late_ms=entry.late_ms + delivered.late_ms,
        why=(*entry.why, *delivered.why),
        acted=(*entry.acted, *delivered.acted),
        altered=delivered.altered,
        altered_beyond_contract=delivered.altered_beyond_contract,
        own_status=delivered.own_status,
    )


def _without_response(entry: Entry, engine: Engine) -> Entry:
    """Return a copy of an exchange in progress, as its client currently sees it.

    The copy has no response, and its wait lasts until the current real time.
    """
    engine.now_ms()
    return replace(
        entry,
        status=0,
        code=None,
        lost="no_response_yet",
        response_body=b"",
        late_ms=max(1, engine.machine_ms - entry.real_ms),
    )
