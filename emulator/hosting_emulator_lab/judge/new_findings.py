"""The conduct findings of a trial that the clean run does not have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

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
    or with as many keys. It is also left out if each retry may be the first attempt of another test,
    which sends the same request in the clean run.
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
            if retry is not None:
                name = _name(retry)
                if _is_usual(finding.rule, name, repetitions, usual):
                    continue
                attempts = [
                    exchange
                    for exchange in visit.exchanges
                    if exchange.chapter == chapter and _name(exchange) == name
                ]
                if _may_be_first_attempts(finding, attempts, repetitions, usual):
                    continue
            findings.append(finding)
    return tuple(findings)


class _Repetitions:
    """How often a client sends each request, and with which keys.

    `certain_starts` is the number of requests that are certainly no retry: the first in each world,
    and those that follow a success.
    """

    def __init__(self, exchanges: Sequence[ObservedExchange]) -> None:
        self.counts = Counter(map(_name, exchanges))
        self.keys: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
        self.certain_starts: Counter[str] = Counter()
        last: dict[tuple[int, str], ObservedExchange] = {}
        for exchange in exchanges:
            name = _name(exchange)
            self.keys[name][exchange.idempotency_key] += 1
            earlier = last.get((exchange.chapter, name))
            if earlier is None or (earlier.is_received and 200 <= earlier.status < 400):
                self.certain_starts[name] += 1
            last[exchange.chapter, name] = exchange


def _is_usual(rule: str, name: str, repetitions: _Repetitions, usual: _Repetitions) -> bool:
    """Return whether a rule is about a repetition of a request that the clean run makes as well."""
    if name.startswith(_POLLS):
        return False
    if rule == _NEW_KEY_RULE:
        return len(repetitions.keys[name]) <= len(usual.keys[name])
    return rule in _RETRY_RULES and repetitions.counts[name] <= usual.counts[name]


def _may_be_first_attempts(
    finding: ConductFinding,
    attempts: Sequence[ObservedExchange],
    repetitions: _Repetitions,
    usual: _Repetitions,
) -> bool:
    """Return whether each retry in a finding may be the first attempt of another test.

    A client may wait before each retry and then give up, so that its test fails. The next test sends
    its first request without a wait. `attempts` are all requests of the world that are equal to the
    last request of the finding. A request with the same Idempotency-Key is a retry, unless the clean
    run repeats a key as well.
    """
    if finding.rule not in _RETRY_RULES or not attempts:
        return False
    name = _name(attempts[0])
    if name.startswith(_POLLS):
        return False
    repeats_keys = max(usual.keys[name].values(), default=0) > 1
    numbers = set(finding.requests)
    count = finding.more_requests
    for earlier, exchange in pairwise(attempts):
        if earlier.n not in numbers or exchange.n not in numbers:
            continue
        count += 1
        key = exchange.idempotency_key
        if key is not None and key == earlier.idempotency_key and not repeats_keys:
            return False
    return 0 < count <= usual.counts[name] - repetitions.certain_starts[name]


def _name(exchange: ObservedExchange) -> str:
    return f"{exchange.call} {exchange.method} {exchange.path}?{exchange.query}"
