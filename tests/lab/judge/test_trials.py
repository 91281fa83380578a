"""The text of a trial names one run, and a plan covers every kind of failure at each call."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.trial_plan import TrialPlan, plan_trials
from hosting_emulator_lab.judge.trials import CleanTrial, FaultTrial, VariedTrial, read_trial
from hosting_emulator_lab.judge.variation_causes import JUDGED_POINTS
from tests.lab.judge.samples import exchange, requests

CALLS = (
    "set_project_powered_by_flag",
    "create_user_api_key",
    "apply_project_domains",
    "get_operation",
    "list_deployments",
    "list_deployments",
)


@pytest.fixture
def plan() -> TrialPlan:
    """The plan for a client that sends six requests."""
    return plan_trials(requests(*CALLS), ["1", "2"])


@pytest.mark.parametrize(
    "text",
    [
        "clean",
        "clean/scaled",
        "clean/base-path",
        "vary/7",
        "vary/7/unknown-phase,extra-fields",
        "create_user_api_key#1/timeout/after_commit",
        "apply_project_domains#2/fail/lasting",
    ],
)
def test_a_trial_is_read_from_the_text_that_a_report_shows(text: str) -> None:
    assert str(read_trial(text)) == text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is not a trial"),
        ("clean/fast", "clean/scaled"),
        ("vary", "no seed"),
        ("vary//extra-fields", "no seed"),
        ("timeout", "CALL#N/FAULT/PHASE"),
        ("create_user_api_key#1/timeot/after_commit", "timeout"),
        ("create_user_api_key#0/timeout/after_commit", "is not a point"),
    ],
)
def test_the_refusal_of_a_trial_says_what_would_be_right(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        read_trial(text)


def test_a_varied_trial_without_points_varies_all_points_that_a_judge_tries() -> None:
    assert VariedTrial("1").conditions.vary_only == JUDGED_POINTS
    assert VariedTrial("1", ("extra-fields",)).conditions.vary_only == ("extra-fields",)


def test_the_clock_of_a_trial_skips_and_one_clean_run_has_a_fast_clock() -> None:
    assert CleanTrial().conditions.clock == "skip"
    assert CleanTrial("scaled").conditions.clock == "scaled"
    assert CleanTrial("scaled").conditions.rate == 1.0


def test_an_operation_stays_queued_while_a_client_polls_three_times_in_as_many_seconds() -> None:
    """Fewer early polls on new connections may be the first polls of programs that have just started."""
    profile = CleanTrial("scaled").conditions.operation_profile
    _, queued, _ = profile.split()
    assert float(queued.removesuffix("s")) > 3


def test_the_clock_runs_where_the_pauses_between_attempts_are_measured() -> None:
    point = FaultPoint.read("get_operation#1/timeout/before_commit")
    assert FaultTrial(point).conditions.clock == "skip"
    outage = FaultPoint.read("get_operation#1/outage/lasting")
    assert FaultTrial(outage).conditions.clock == "scaled"


def test_only_one_clean_run_has_a_path_in_its_base_url() -> None:
    trials = [CleanTrial(), CleanTrial("scaled"), CleanTrial("base-path")]
    assert [trial.conditions.has_base_path for trial in trials] == [False, False, True]


def test_each_kind_of_failure_is_required_once_at_each_call(plan: TrialPlan) -> None:
    points = [trial.point for trial in plan.required]
    resets = [point.request for point in points if point.fault == "connection_reset"]
    assert resets.count("list_deployments#1") == 1
    assert "list_deployments#2" not in resets
    # A change that is made before its response is lost differs from one that is not made.
    assert resets.count("create_user_api_key#1") == 2
    refusals = [
        point for point in points if point.lasting is not None and point.fault.startswith("abort:")
    ]
    assert [point.call for point in refusals].count("create_user_api_key") == 1


def test_the_trials_that_are_not_required_are_the_rest_of_the_plan(plan: TrialPlan) -> None:
    trials = [*plan.required, *plan.others]
    assert len(set(trials)) == len(trials)
    assert plan.trial_count == len(trials) + len(plan.varied) == len(trials) + 2
    assert any(trial.point.request == "list_deployments#2" for trial in plan.others)


def test_an_expired_token_and_a_response_that_never_comes_are_tried_once_at_each_call(
    plan: TrialPlan,
) -> None:
    for fault in ("token_expired", "timeout"):
        calls = [trial.point.call for trial in plan.required if trial.point.fault == fault]
        assert sorted(calls) == sorted(set(CALLS))
        assert not [trial for trial in plan.others if trial.point.fault == fault]


def test_a_body_that_stalls_is_tried_once_at_a_read_and_once_at_a_change(plan: TrialPlan) -> None:
    trials = [*plan.required, *plan.others]
    stalled = [trial.point for trial in trials if trial.point.fault == "stalled_response"]
    assert sorted(ALL_CALLS[point.call].method == "GET" for point in stalled) == [False, True]


def test_a_state_in_a_nested_object_is_tried_while_an_operation_is_polled_in_each_phase() -> None:
    point = FaultPoint.read("apply_project_domains#1/nested_state/lasting")
    assert (
        FaultTrial(point).conditions.operation_profile
        == VariedTrial("1").conditions.operation_profile
    )


def test_an_operation_that_blocks_another_lasts_longer_than_a_client_needs_to_start() -> None:
    conditions = FaultTrial(FaultPoint.read("apply_project_domains#1/queued/lasting")).conditions
    assert (conditions.operation_profile, conditions.next_poll_s) == ("timed 1m 0s", 1)


def test_a_request_that_is_refused_on_a_good_day_is_not_refused_for_good() -> None:
    log = [exchange("list_deployments", 404)]
    plan = plan_trials(number_requests(log), [])
    assert plan.required
    assert not [trial for trial in plan.required if trial.point.lasting is not None]


def test_the_same_requests_get_the_same_plan(plan: TrialPlan) -> None:
    assert plan_trials(requests(*CALLS), ["1", "2"]) == plan


def test_a_client_without_requests_gets_no_trial_that_proves_anything() -> None:
    assert plan_trials((), ["1"]).required == ()
