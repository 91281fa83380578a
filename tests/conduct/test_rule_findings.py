"""Findings of one rule are merged by group, counted and withdrawn."""

from typing import Any

import pytest

from hosting_emulator.conduct.exchange_view import ConnectionUse, ExchangeView
from hosting_emulator.conduct.findings import SEVERITIES, Finding
from hosting_emulator.conduct.rule_findings import MOST_REQUESTS, RuleFindings
from hosting_emulator.conduct.rules import RULES
from tests.conduct.findings import GOLDEN_FILE, golden_text
from tests.support.in_process import InProcess

RULE = "retried-not-retryable"


@pytest.fixture
def exchanges() -> list[ExchangeView]:
    """Thirty exchanges, one second apart. The first one has number 1."""
    api = InProcess()
    for _ in range(30):
        api.dns()
        api.advance("1s")
    views = [
        ExchangeView(entry, ConnectionUse(entry.connection)) for entry in api.engine.log.after(0)
    ]
    assert [view.n for view in views] == list(range(1, 31))
    return views


def test_the_findings_of_each_rule_match_the_golden_file():
    text = golden_text()

    assert text == GOLDEN_FILE.read_text(encoding="utf-8")
    assert {line.partition(" ")[0] for line in text.splitlines()} >= set(RULES)


def finding(exchanges: list[ExchangeView], *numbers: int, **options: Any) -> Finding:
    return Finding(
        RULE, *(exchanges[n - 1] for n in numbers), message=f"about {numbers}", **options
    )


def test_findings_without_a_group_stay_separate(exchanges: list[ExchangeView]):
    findings = RuleFindings()
    findings.add(finding(exchanges, 1))
    findings.add(finding(exchanges, 2))

    assert [each.requests for each in findings.standing().findings] == [[1], [2]]
    assert findings.standing().count == 2


def test_findings_of_a_group_become_one_with_the_time_of_the_last(exchanges: list[ExchangeView]):
    findings = RuleFindings()
    for numbers in ((1, 2), (2, 3), (3, 4)):
        findings.add(finding(exchanges, *numbers, group="a"))
    findings.add(finding(exchanges, 5, group="b"))

    first, second = findings.standing().findings
    assert (first.requests, first.last, first.more_requests) == ([1, 2, 3, 4], 4, 0)
    assert first.message == "about (1, 2)"
    assert first.at == finding(exchanges, 4).at != finding(exchanges, 2).at
    assert second.requests == [5]
    assert findings.standing().count == 2


def test_a_finding_names_a_bounded_number_of_requests_and_counts_the_rest(
    exchanges: list[ExchangeView],
):
    findings = RuleFindings()
    for n in range(1, 30):
        findings.add(finding(exchanges, n, n + 1, group="a"))

    (merged,) = findings.findings
    assert merged.requests == list(range(1, MOST_REQUESTS + 1))
    assert (merged.more_requests, merged.last) == (30 - MOST_REQUESTS, 30)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("later_severity", SEVERITIES)
def test_a_merged_finding_has_the_higher_severity_and_its_message(
    exchanges: list[ExchangeView], severity: Any, later_severity: Any
):
    findings = RuleFindings()
    first, later = finding(exchanges, 1, group="a"), finding(exchanges, 3, 2, group="a")
    first.severity = severity
    later.severity = later_severity

    findings.add(first)
    findings.add(later)

    (merged,) = findings.findings
    is_higher = SEVERITIES.index(later_severity) > SEVERITIES.index(severity)
    assert merged.severity == max(severity, later_severity, key=SEVERITIES.index)
    assert merged.message == ("about (3, 2)" if is_higher else "about (1,)")
    assert merged.requests == [1, 2, 3]


def test_a_finding_of_a_higher_severity_names_its_own_requests_although_there_are_many(
    exchanges: list[ExchangeView],
):
    findings = RuleFindings()
    for n in range(1, 28):
        findings.add(finding(exchanges, n, group="a", sure=False))
    findings.add(finding(exchanges, 28, 29, group="a"))

    (merged,) = findings.findings
    assert merged.requests == [*range(1, MOST_REQUESTS - 1), 28, 29]
    assert merged.severity == finding(exchanges, 1).severity


def test_withdrawn_findings_are_neither_shown_nor_counted(exchanges: list[ExchangeView]):
    findings = RuleFindings()
    for n in range(1, 5):
        findings.add(finding(exchanges, n))
    findings.findings[1].withdrawn = True

    standing = findings.standing()

    assert [each.requests for each in standing.findings] == [[1], [3], [4]]
    assert (standing.count, findings.count) == (3, 4)
