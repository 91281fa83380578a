"""Clean runs show broken rules, a printed token, and process ids in Idempotency-Keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.sdk import ConductFinding
from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial
from hosting_emulator_lab.judge.causes import Symptom
from hosting_emulator_lab.judge.clean_run_symptoms import FinishedRun, clean_run_symptoms
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.run_results import RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.trials import CleanTrial
from tests.lab.judge.samples import exchange, observed, state
from tests.lab.judge.test_causes import finding

RULE = "polled-too-early"


def finished(
    kind: Any = "skip",
    findings: Sequence[ConductFinding] = (),
    *,
    key: str = "k-1",
    refused: int = 0,
    **end: Any,
) -> FinishedRun:
    """Return a finished run, which creates an API key with an Idempotency-Key.

    Then it sends requests that are `refused`, from request 2 on.
    """
    rows = [exchange("create_user_api_key", 201, n=1, idempotency_key=key)]
    rows += [exchange("list_deployments", 400, n=n + 2) for n in range(refused)]
    visit = RunVisit()
    visit.observation = observed(number_requests(rows), state())
    visit.exchanges = rows
    visit.findings_by_chapter = {0: findings}
    return FinishedRun(CleanTrial(kind), RunEnd(0, **end), visit)


def broken(request: int, severity: str = "warning", rule: str = RULE) -> ConductFinding:
    """Return a finding about the rule and a request."""
    return replace(finding(rule, severity), requests=[request])


def shown(
    *runs: FinishedRun, expected: Sequence[str] = (), tried: list[str] | None = None
) -> list[tuple[str, str, Symptom]]:
    """Return the ids, the severities and the symptoms that clean runs show.

    `expected` are the trials in which the client fails. `tried` gets the texts of all trials.
    """

    def expects_refusal(trial: AcceptedTrial) -> bool:
        if tried is not None:
            tried.append(str(trial))
        return str(trial) in expected

    symptoms = clean_run_symptoms(runs, expects_refusal)
    return [(text.id, text.severity, symptom) for text, symptom in symptoms]


def test_the_first_serious_finding_about_a_rule_is_its_symptom() -> None:
    runs = (
        finished(findings=[broken(1, "note")]),
        finished("scaled", [broken(1), broken(2)]),
    )

    assert shown(*runs) == [(RULE, "warning", Symptom("clean/scaled", "request #1: it did so"))]


def test_the_first_note_about_a_rule_is_its_symptom_if_there_is_nothing_else() -> None:
    runs = (finished(findings=[broken(1, "note")]), finished("scaled", [broken(2, "note")]))

    assert shown(*runs) == [(RULE, "note", Symptom("clean", "request #1: it did so"))]


@pytest.mark.parametrize(
    ("message", "line", "severity"),
    [
        ("It was polled after 0.00 s (#2).", "3 passed in 1.98s", "note"),
        ("It was polled after 0.00 s (#2).", "done", "warning"),
        # With pauses between the polls, the client waits, but not long enough.
        ("It was polled after 0.10 s (#2).", "3 passed in 1.98s", "warning"),
    ],
)
def test_early_polls_of_a_test_suite_without_any_pause_are_a_note(
    message: str, line: str, severity: str
) -> None:
    """The tests may have replaced the waiting."""
    early = replace(broken(1), message=message)

    assert [seen[1] for seen in shown(finished(findings=[early], printed_lines=(line,)))] == [
        severity
    ]


def test_each_rule_has_one_symptom() -> None:
    runs = finished(findings=[broken(1), broken(1, "error", "secret-in-url"), broken(1)])

    assert [id_ for id_, _, _ in shown(runs)] == [RULE, "secret-in-url"]


@pytest.mark.parametrize(
    ("expected_numbers", "severity", "number", "tried_numbers"),
    [
        ((), "warning", 2, (1,)),
        ((1,), "warning", 3, (1, 2)),
        ((1, 2), "warning", 4, (1, 2, 3)),
        ((1, 2, 3), "note", 2, (1, 2, 3)),
    ],
)
def test_a_refusal_counts_if_the_client_does_not_expect_one_of_the_first_three(
    expected_numbers: Sequence[int],
    severity: str,
    number: int,
    tried_numbers: Sequence[int],
) -> None:
    run = finished(findings=[broken(n) for n in (2, 2, 3, 4, 5)], refused=4)
    tried: list[str] = []

    [(_, shown_severity, symptom)] = shown(
        run, expected=[f"accept/list_deployments#{n}" for n in expected_numbers], tried=tried
    )

    remark = ""
    if severity == "note":
        remark = " The service refuses this request, and the command may be testing the refusal."
    assert shown_severity == severity
    assert symptom.message == f"request #{number}: it did so{remark}"
    assert tried == [f"accept/list_deployments#{n}" for n in tried_numbers]


@pytest.mark.parametrize(
    ("rule", "expected", "severity", "tried_texts"),
    [
        ("retried-too-soon", True, "note", ["accept/list_deployments#1"]),
        ("retried-too-soon", False, "warning", ["accept/list_deployments#1"]),
        (RULE, True, "warning", []),
    ],
)
def test_an_early_retry_counts_if_the_client_does_not_expect_the_refusal_before_it(
    rule: str, expected: bool, severity: str, tried_texts: list[str]
) -> None:
    """A test may expect the refusal, and the next test then sends the same request."""
    run = finished(findings=[replace(broken(2, rule=rule), requests=[2, 3])], refused=1)
    run.visit.exchanges = [*run.visit.exchanges, exchange("list_deployments", 200, n=3)]
    tried: list[str] = []

    [(_, shown_severity, _)] = shown(run, expected=tried_texts if expected else (), tried=tried)

    assert shown_severity == severity
    assert tried == tried_texts


def test_a_token_that_several_runs_print_is_one_symptom_of_the_first_of_them() -> None:
    runs = (
        finished(),
        finished("base-path", prints_token=True),
        finished("scaled", prints_token=True),
    )

    message = "the output contains the token that the command gets in HOSTING_TOKEN"
    assert shown(*runs) == [("prints-token", "warning", Symptom("clean/base-path", message))]


@pytest.mark.parametrize(("last_key", "is_shown"), [("job-4713", True), ("random", False)])
def test_a_process_id_is_a_symptom_if_the_keys_of_all_runs_contain_it(
    last_key: str, is_shown: bool
) -> None:
    runs = (
        finished(key="job-4711", pid=4711),
        finished("base-path", key="job-4712", pid=4712),
        finished("scaled", key=last_key, pid=4713),
    )

    message = "the Idempotency-Key 'job-4711' contains the id of the client's process"
    symptom = ("key-of-process-id", "warning", Symptom("clean", message))
    assert shown(*runs) == ([symptom] if is_shown else [])


def test_a_run_that_was_stopped_belongs_to_a_suite_if_the_first_run_did() -> None:
    early = replace(broken(1), message="It was polled after 0.00 s (#2).")
    first = finished(printed_lines=("3 passed in 1.98s",))
    stopped = finished("scaled", [early], hung=True, printed_lines=())

    assert [severity for _, severity, _ in shown(first, stopped)] == ["note"]
