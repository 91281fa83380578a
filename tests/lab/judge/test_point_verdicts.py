"""The verdict on a run at a point follows from how the run ended and what it left behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.judged_run import NO_VALUE
from hosting_emulator_lab.judge.point_verdicts import judge_point
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun, ConductChoice, RunEnd
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import FaultTrial
from hosting_emulator_lab.judge.world_summary import StateRows
from tests.lab.judge.samples import (
    key_row,
    observed,
    operation_row,
    sample_clean_run,
    sample_observation,
    state,
)

TIMEOUT = FaultPoint.read("create_user_api_key#1/timeout/after_commit")
FORBIDDEN = FaultPoint.read("create_user_api_key#1/abort:forbidden/lasting")
ONE_KEY = {"1": key_row("ci")}
TWO_KEYS = {**ONE_KEY, "2": key_row("ci")}


def judge(
    observation: Observation, clean_run: CleanRun | None = None, *, exit_code: int = 0
) -> TrialResult:
    """Judge a run that met a timeout, or no fault if `observation.hit` is false."""
    if clean_run is None:
        clean_run = sample_clean_run()
    return judge_point(TIMEOUT, RunEnd(exit_code), observation, clean_run, limit_s=10)


def verdict_and_reasons(
    exit_code: int = 0, *, hung: bool = False, hit: bool = True, **tables: Any
) -> list[str]:
    """Judge a run that leaves these rows, and return its verdict and the reasons."""
    final_state = state(**{"user_api_keys": ONE_KEY, **tables})
    observation = observed((), final_state, hit=hit)
    end = RunEnd(exit_code, hung)
    result = judge_point(TIMEOUT, end, observation, sample_clean_run(), limit_s=10)
    return [result.verdict, *result.reasons]


def test_a_result_describes_the_run_and_leaves_out_the_output_of_a_fine_run():
    observation = sample_observation(
        hit=True, codes=frozenset(["rate_limited", "forbidden"]), conduct=("rule: Broken",)
    )
    failure = RunEnd(3, duration_s=1.23456, output=("no luck",))
    success = replace(failure, exit_code=0)

    failed, survived = (
        judge_point(TIMEOUT, end, observation, sample_clean_run(), limit_s=10)
        for end in (failure, success)
    )

    assert failed == TrialResult(
        trial=FaultTrial(TIMEOUT),
        verdict="failed",
        reasons=("exit code 3",),
        exit_code=3,
        duration_s=1.235,
        output=("no luck",),
        conduct=("rule: Broken",),
        codes=("forbidden", "rate_limited"),
        hit=True,
    )
    assert survived == replace(failed, verdict="survived", reasons=(), exit_code=0, output=())


# --- The end of a run ----------------------------------------------------------------------------


def test_a_run_with_the_same_exit_code_and_state_survived():
    assert verdict_and_reasons() == ["survived"]


def test_a_point_whose_fault_hit_no_request_is_not_reached():
    assert verdict_and_reasons(hit=False) == ["not reached"]


def test_a_run_that_did_not_end_hung_although_its_fault_hit_no_request():
    assert verdict_and_reasons(hung=True, hit=False) == ["hung", "it did not end within 10 s"]


def test_another_exit_code_is_a_failure():
    assert verdict_and_reasons(3) == ["failed", "exit code 3"]


def test_a_failure_without_a_fault_is_reported_as_intermittent():
    assert verdict_and_reasons(3, hit=False) == [
        "failed",
        "exit code 3",
        "although the fault hit no request: it may fail intermittently",
    ]


def test_a_run_that_does_not_end_in_time_is_hung():
    assert verdict_and_reasons(143, hung=True) == ["hung", "it did not end within 10 s"]


def test_a_run_that_sends_too_many_requests_is_hung_before_its_time_limit():
    end = RunEnd(143, hung=True, duration_s=7.04, sent_too_much=True)
    observation = replace(observed((), state(user_api_keys=ONE_KEY), hit=True), request_count=5001)

    result = judge_point(TIMEOUT, end, observation, sample_clean_run(), limit_s=10)

    assert [result.verdict, *result.reasons] == [
        "hung",
        "it had not ended after 7 s and 5,001 requests",
    ]


# --- The state after a run -----------------------------------------------------------------------


def test_a_second_api_key_is_doubled_or_a_further_reason_for_another_verdict():
    reason = "2 API keys, while the clean run makes 1: 'ci' of owner in acme"

    assert verdict_and_reasons(user_api_keys=TWO_KEYS) == ["doubled", reason]
    assert verdict_and_reasons(1, user_api_keys=TWO_KEYS) == ["failed", "exit code 1", reason]
    assert verdict_and_reasons(143, hung=True, user_api_keys=TWO_KEYS)[-1] == reason


def test_the_reasons_of_a_failed_run_leave_out_what_it_did_not_create():
    assert verdict_and_reasons(1, user_api_keys={}) == ["failed", "exit code 1"]


def test_a_successful_run_that_created_nothing_differs():
    assert verdict_and_reasons(user_api_keys={}) == [
        "differs",
        "0 API keys, while the clean run makes 1: 'ci' of owner in acme",
    ]


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (
            {"projects": {"S": {"alias": "shop"}, "N": {"alias": "notes"}}},
            "flag at the end: shop hides its flag (in the clean run: shop shows its flag)",
        ),
        (
            {"user_api_keys": {"1": {**key_row("ci"), "revoked": True}}},
            "API key at the end: 'ci' of owner in acme revoked (in the clean run: 'ci' of owner in acme)",
        ),
        (
            {"user_api_keys": {"1": key_row("other")}},
            "API key at the end: 'other' of owner in acme (in the clean run: 'ci' of owner in acme)",
        ),
    ],
    ids=["flag", "revoked_key", "name_of_a_key"],
)
def test_a_state_with_equal_counts_and_other_content_differs(tables: dict[str, Any], reason: str):
    assert verdict_and_reasons(**tables) == ["differs", reason]


def test_an_additional_operation_is_doubled():
    failed = operation_row("failed", error={"code": "etag_mismatch"})

    assert verdict_and_reasons(operations={"1": failed}) == [
        "doubled",
        "1 operation, while the clean run makes 0: apply_project_domains of shop failed "
        "(etag_mismatch)",
    ]


def test_a_ticket_that_a_newer_ticket_revoked_does_not_count_as_doubled():
    def state_with_tickets(*ticket_states: str) -> StateRows:
        rows = {
            str(number): {"project_id": "S", "principal": "P", "state": ticket_state}
            for number, ticket_state in enumerate(ticket_states)
        }
        return state(dev_access_tickets=rows)

    clean_run = sample_clean_run(observed((), state_with_tickets("unused")))
    revoked = observed((), state_with_tickets("revoked", "unused"), hit=True)
    unrevoked = observed((), state_with_tickets("unused", "unused"), hit=True)

    assert judge(revoked, clean_run).verdict == "survived"
    assert judge(unrevoked, clean_run).verdict == "doubled"


def test_content_that_differs_between_clean_runs_is_not_compared():
    def state_with_keys(*names: str) -> StateRows:
        return state(user_api_keys={name: key_row(name) for name in names})

    clean_run = sample_clean_run(
        observed((), state_with_keys("first")), second_state=state_with_keys("second")
    )
    one_key = observed((), state_with_keys("third"), hit=True)
    two_keys = observed((), state_with_keys("third", "fourth"), hit=True)
    no_key = observed((), state_with_keys(), hit=True)

    assert clean_run.varying_kinds == ["API key"]
    assert judge(one_key, clean_run).verdict == "survived"
    assert judge(two_keys, clean_run).verdict == "doubled"
    assert judge(no_key, clean_run).verdict == "differs"


def test_a_count_that_differs_between_clean_runs_is_not_compared():
    one_key = state(user_api_keys=ONE_KEY)
    two_keys = state(user_api_keys=TWO_KEYS)
    clean_run = sample_clean_run(observed((), one_key), second_state=two_keys)

    assert judge(observed((), two_keys, hit=True), clean_run).verdict == "survived"


# --- The value of an API key ---------------------------------------------------------------------


def test_a_key_with_a_random_name_may_replace_a_lost_value():
    first_state = state(user_api_keys={"1": key_row("ci-1")})
    second_state = state(user_api_keys={"1": key_row("ci-2")})
    final_state = state(user_api_keys={"1": key_row("ci-3"), "2": key_row("ci-3-again")})
    clean_run = sample_clean_run(observed((), first_state, key_values=1), second_state)
    observation = observed((), final_state, hit=True, key_values=1, lost_keys=1)

    assert judge(observation, clean_run).verdict == "survived"
    assert judge(replace(observation, lost_keys=0), clean_run).verdict == "doubled"


def test_a_client_that_requests_no_key_loses_no_value():
    clean_run = sample_clean_run(sample_observation(key_values=1))
    observation = sample_observation(hit=True)

    assert judge(observation, clean_run).verdict == "survived"
    unreached = replace(observation, hit=False, state=state())
    assert judge(unreached, clean_run).verdict == "not reached"


def test_a_value_lost_on_the_wire_is_blind_success():
    clean_run = sample_clean_run(sample_observation(key_values=1))
    observation = sample_observation(hit=True, requested_keys=1, lost_keys=1)

    result = judge(observation, clean_run)

    assert (result.verdict, result.reasons) == ("blind success", (NO_VALUE,))
    assert judge(observation, clean_run, exit_code=1).verdict == "gave up"
    with_second_key = replace(observation, state=state(user_api_keys=TWO_KEYS), key_values=1)
    assert judge(with_second_key, clean_run).verdict == "survived"


def test_a_client_whose_key_was_not_created_has_not_lost_its_value():
    clean_run = sample_clean_run(sample_observation(key_values=1))
    observation = sample_observation(hit=True, requested_keys=1, state=state())

    result = judge(observation, clean_run)

    assert (result.verdict, result.reasons) == (
        "differs",
        ("0 API keys, while the clean run makes 1: 'ci' of owner in acme",),
    )


# --- Conduct -------------------------------------------------------------------------------------


def test_conduct_findings_of_the_clean_run_are_not_reported_again():
    clean_run = sample_clean_run(sample_observation(conduct=("old",)))
    observation = sample_observation(hit=True, conduct=("old", "new"))

    assert judge(observation, clean_run).conduct == ("new",)


@pytest.mark.parametrize(
    ("conduct", "verdict", "reasons", "is_reported"),
    [
        ("off", "survived", (), False),
        ("report", "survived", (), True),
        ("error", "misbehaved", ("retried-too-soon",), True),
    ],
)
def test_the_conduct_choice_decides_whether_a_finding_is_ignored_reported_or_counted(
    conduct: ConductChoice, verdict: str, reasons: tuple[str, ...], is_reported: bool
):
    finding = "retried-too-soon: Tried again"
    observation = sample_observation(hit=True, conduct=(finding,))

    result = judge_point(
        TIMEOUT, RunEnd(0), observation, sample_clean_run(), limit_s=10, conduct=conduct
    )

    assert (result.verdict, result.reasons) == (verdict, reasons)
    assert (finding in result.conduct) == is_reported


def test_a_conduct_finding_does_not_replace_the_verdict_on_a_failed_run():
    observation = sample_observation(hit=True, conduct=("retried-too-soon: Tried again",))

    result = judge_point(
        TIMEOUT, RunEnd(1), observation, sample_clean_run(), limit_s=10, conduct="error"
    )

    assert result.verdict == "failed"


@pytest.mark.parametrize(
    ("conduct", "verdict"),
    [("off", "gave up"), ("report", "misbehaved"), ("error", "misbehaved")],
)
def test_a_conduct_error_counts_if_conduct_is_reported(conduct: ConductChoice, verdict: str):
    findings = ("new-key-after-uncertainty: Retried",)
    observation = observed((), state(), hit=True, conduct=findings, conduct_errors=findings)

    result = judge_point(
        FORBIDDEN, RunEnd(1), observation, sample_clean_run(), limit_s=10, conduct=conduct
    )

    assert result.verdict == verdict


def test_a_conduct_error_of_the_clean_run_does_not_count():
    findings = ("new-key-after-uncertainty: Retried",)
    observation = sample_observation(hit=True, conduct=findings, conduct_errors=findings)

    assert judge(observation, sample_clean_run(observation)).verdict == "survived"
    assert judge(observation).verdict == "misbehaved"
