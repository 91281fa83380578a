"""The conduct findings of a trial that count beside those of the clean run."""

from __future__ import annotations

import pytest
from msgspec import structs

from hosting_emulator.sdk import ConductFinding
from hosting_emulator_lab.judge.new_findings import new_findings
from hosting_emulator_lab.judge.run_visit import RunVisit
from tests.lab.judge.samples import (
    exchange,
    keyed_requests,
    requests,
    sample_clean_run,
    sample_observation,
)
from tests.lab.judge.test_causes import finding

FLAG = "set_project_powered_by_flag"


def rules_of_trial(
    conduct_finding: ConductFinding, calls: list[str], clean_calls: list[str], *, broken: str = ""
) -> list[str]:
    """Return the rules that a trial breaks, if it and the clean run make these calls."""
    clean_observation = sample_observation(
        requests=requests(*clean_calls), conduct=(broken,) if broken else ()
    )
    visit = RunVisit()
    visit.exchanges = [request.exchange for request in requests(*calls)]
    visit.findings_by_chapter = {0: [conduct_finding]}
    return [new.rule for new in new_findings(visit, sample_clean_run(clean_observation))]


@pytest.mark.parametrize("rule", ["retried-not-retryable", "retried-too-soon"])
def test_a_request_that_a_suite_sends_twice_on_a_good_day_is_no_retry(rule: str) -> None:
    """The next test of a suite sends the request that failed in the test before."""
    assert rules_of_trial(finding(rule), [FLAG, FLAG], [FLAG, FLAG]) == []
    assert rules_of_trial(finding(rule), [FLAG, FLAG], [FLAG]) == [rule]
    assert rules_of_trial(finding(rule), [FLAG, FLAG, FLAG], [FLAG, FLAG]) == [rule]


@pytest.mark.parametrize(
    ("keys", "rules"),
    [
        (["test-1", "test-1", "test-1", "test-2"], []),
        (["test-1", "other", "test-2"], ["new-key-after-uncertainty"]),
    ],
)
def test_a_key_of_the_next_test_is_no_new_key_of_a_retry(keys: list[str], rules: list[str]) -> None:
    clean_run = sample_clean_run(
        sample_observation(requests=keyed_requests(FLAG, "test-1", "test-2"))
    )
    visit = RunVisit()
    visit.exchanges = [request.exchange for request in keyed_requests(FLAG, *keys)]
    visit.findings_by_chapter = {0: [finding("new-key-after-uncertainty")]}
    assert [new.rule for new in new_findings(visit, clean_run)] == rules


def test_a_refused_request_of_a_good_day_counts_as_usual() -> None:
    """A suite also tests that a request without a valid token is refused."""
    refused = exchange(FLAG, 401, idempotency_key="test-2", user_id=None, n=2)
    made = keyed_requests(FLAG, "test-1")
    clean_run = sample_clean_run(
        sample_observation(requests=made, exchanges=(made[0].exchange, refused))
    )
    visit = RunVisit()
    visit.exchanges = [request.exchange for request in keyed_requests(FLAG, "test-1", "test-2")]
    visit.findings_by_chapter = {0: [finding("new-key-after-uncertainty")]}
    assert new_findings(visit, clean_run) == ()


REFUSED = 429
OK = 200


def early_retries(
    numbers: list[int],
    attempts: list[tuple[int, int]],
    usual_count: int,
    keys: list[str] | None = None,
    usual_keys: list[str] | None = None,
) -> list[str]:
    """Return the rules that a trial breaks in which requests were sent too soon.

    `numbers` are the requests of the finding. `attempts` are the chapter and the status of each request
    of the trial. The clean run sends the same request `usual_count` times.
    """
    visit = RunVisit()
    visit.exchanges = [
        exchange(FLAG, status, n=n, chapter=chapter, idempotency_key=keys[n - 1] if keys else None)
        for n, (chapter, status) in enumerate(attempts, 1)
    ]
    early = structs.replace(finding("retried-too-soon", "warning"), requests=numbers)
    visit.findings_by_chapter = {0: [early]}
    usual = requests(*[FLAG] * usual_count)
    if usual_keys:
        usual = keyed_requests(FLAG, *usual_keys)
    clean = sample_clean_run(sample_observation(requests=usual))
    return [new.rule for new in new_findings(visit, clean)]


EARLY = ["retried-too-soon"]
#: Each of two tests waits before its second and third attempt, and then fails.
TWO_TESTS = [(0, REFUSED)] * 6


@pytest.mark.parametrize(
    ("numbers", "attempts", "usual_count", "rules"),
    [
        ([3, 4], TWO_TESTS, 2, []),
        ([3, 4], TWO_TESTS, 1, EARLY),
        ([2, 3, 4], TWO_TESTS, 2, EARLY),
        ([2, 3, 5, 6], TWO_TESTS, 3, []),
        ([1, 2], [(0, REFUSED), (0, OK), (0, OK)], 2, EARLY),
        ([2, 3], [(0, REFUSED), (0, REFUSED), (0, REFUSED), (1, OK)], 2, EARLY),
        ([2, 3], [(0, REFUSED), (0, REFUSED), (0, REFUSED), (1, OK)], 3, []),
    ],
    ids=[
        "the second test does not wait for the first",
        "there is one test",
        "a test does not wait either",
        "the third test does not wait either",
        "the request after a success is no retry",
        "the other test has another world",
        "a third test may share the world",
    ],
)
def test_the_first_attempt_of_the_next_test_is_no_retry(
    numbers: list[int], attempts: list[tuple[int, int]], usual_count: int, rules: list[str]
) -> None:
    assert early_retries(numbers, attempts, usual_count) == rules


def test_a_finding_about_different_requests_does_not_depend_on_how_often_each_is_sent() -> None:
    """A client that goes on with other requests ignores a rate limit."""
    assert early_retries([1, 8], [(0, REFUSED), (0, REFUSED)], 2) == EARLY


@pytest.mark.parametrize(
    ("keys", "usual_keys", "rules"),
    [
        (["a", "a", "a", "b", "b", "b"], ["a", "b"], []),
        (["a", "a", "a", "a", "b", "b"], ["a", "b"], EARLY),
        (["a", "a", "a", "a", "a", "a"], ["a", "a"], []),
    ],
)
def test_the_same_key_shows_a_retry_unless_tests_share_a_key(
    keys: list[str], usual_keys: list[str], rules: list[str]
) -> None:
    assert early_retries([3, 4], TWO_TESTS, 2, keys, usual_keys) == rules


def test_a_poll_is_a_retry_even_if_a_client_polls_as_often_on_a_good_day() -> None:
    polls = ["get_operation", "get_operation"]
    rule = "retried-too-soon"
    assert rules_of_trial(finding(rule), polls, polls) == [rule]


def test_other_rules_do_not_depend_on_the_number_of_requests() -> None:
    rule = "secret-in-url"
    assert rules_of_trial(finding(rule), [FLAG, FLAG], [FLAG, FLAG]) == [rule]


def test_each_finding_of_each_chapter_is_considered() -> None:
    visit = RunVisit()
    visit.findings_by_chapter = {
        0: [finding("secret-in-url", "note"), finding("polled-too-early")],
        1: [finding("retried-too-soon")],
    }
    assert [new.rule for new in new_findings(visit, sample_clean_run())] == [
        "polled-too-early",
        "retried-too-soon",
    ]


def test_notes_and_rules_that_the_clean_run_breaks_are_left_out() -> None:
    rule = "secret-in-url"
    assert rules_of_trial(finding(rule, "note"), [FLAG], [FLAG]) == []
    assert rules_of_trial(finding(rule), [FLAG], [FLAG], broken=f"{rule}: Broke it") == []
