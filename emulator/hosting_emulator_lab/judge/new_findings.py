"""The conduct findings of a trial that the clean run does not have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from hosting_emulator.messages import ConductFinding
from hosting_emulator_lab.judge.client_requests import ObservedExchange
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.run_visit import RunVisit

#: The rules about retries with the same key, and the rule about retries with another key. After a
#: failure, the next test of a suite may send the same request as the test before. That is no retry.
_RETRY_RULES = ("retried-not-retryable", "retried-too-soon")
_NEW_KEY_RULE = "new-key-after-uncertainty"
#: Every poll of an operation is the same request, however often a client polls.
_POLLS = "get_operation "


def new_findings(visit: RunVisit, clean: CleanRun) -> tuple[ConductFinding, ...]:
    """Return the findings of a run about rules that the clean run keeps. Notes are left out.

    A finding about a retry is left out, too, if the clean run sends the request as often as this run,
    or with as many keys.
    """
    broken_rules = {text.partition(":")[0] for text in clean.observation.conduct}
    usual = _Repetitions(clean.observation.exchanges)
    repetitions = _Repetitions(visit.exchanges)
    by_place = {(exchange.chapter, exchange.n): exchange for exchange in visit.exchanges}
    findings: list[ConductFinding] = []
    for chapter, chapter_findings in visit.findings_by_chapter.items():
        for finding in chapter_findings:
            if finding.severity == "note" or finding.rule in broken_rules:
                continue
            retry = by_place.get((chapter, finding.requests[-1]))
            if retry is None or not _is_usual(finding.rule, _name(retry), repetitions, usual):
                findings.append(finding)
    return tuple(findings)


class _Repetitions:
    """How often a client sends each request, and with which keys."""

    def __init__(self, exchanges: Sequence[ObservedExchange]) -> None:
        self.counts = Counter(map(_name, exchanges))
        self.keys: defaultdict[str, set[str | None]] = defaultdict(set)
        for exchange in exchanges:
            self.keys[_name(exchange)].add(exchange.idempotency_key)


def _is_usual(rule: str, name: str, repetitions: _Repetitions, usual: _Repetitions) -> bool:
    """Return whether a rule is about a repetition of a request that the clean run makes as well."""
    if name.startswith(_POLLS):
        return False
    if rule == _NEW_KEY_RULE:
        return len(repetitions.keys[name]) <= len(usual.keys[name])
    return rule in _RETRY_RULES and repetitions.counts[name] <= usual.counts[name]


def _name(exchange: ObservedExchange) -> str:
    return f"{exchange.call} {exchange.method} {exchange.path}?{exchange.query}"
