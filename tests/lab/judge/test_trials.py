"""The text of a trial names one run, and a plan covers every kind of failure at each call."""

from __future__ import annotations

import re

import pytest

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES, WAITING_KINDS, FaultPoint
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


EXAMPLE = "such as alter/list_deployments/2xx/remove:/items/*/url"
NO_CALL = "there is no call 'list_deployment'; did you mean list_deployments?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clean/fast", "'clean/fast' is not a trial: write clean, clean/scaled or clean/base-path"),
        ("vary", "'vary' has no seed: write vary/SEED, such as vary/1"),
        ("vary//x", "'vary//x' has no seed: write vary/SEED, such as vary/1"),
        (
            "accept/x#0",
            "'accept/x#0' is not a trial: write accept/CALL#N, such as accept/redeem_ticket#1",
        ),
        (
            "accept",
            "'accept' is not a trial: write accept/CALL#N, such as accept/redeem_ticket#1",
        ),
        ("accept/list_deployment#1", NO_CALL),
        (
            "alter/list_deployments",
            f"'alter/list_deployments' is not a trial: write alter/CALL/CLASS/CHANGE, {EXAMPLE}",
        ),
        ("alter/list_deployment/2xx/status", NO_CALL),
        (
            "alter/list_deployments/200/status",
            f"'200' is not a class of statuses: write 2xx, {EXAMPLE}",
        ),
        (
            "alter/list_deployments/2xx/delete:/items",
            "'delete' is not a change: write remove, set, reorder, header, status, as in "
            "alter/list_deployments/2xx/remove:/items/*/url",
        ),
        ("alter/list_deployments/2xx/remove", f"remove needs a JSON Pointer, {EXAMPLE}"),
        ("alter/list_deployments/2xx/set", f"set needs a JSON Pointer, {EXAMPLE}"),
        (
            "alter/list_deployments/2xx/header",
            "header needs a name, such as header:Content-Type",
        ),
        (
            "alter/list_deployments/2xx/status:200",
            "status needs no part: write alter/CALL/CLASS/status",
        ),
        ("list_deployment#1/timeout/before_commit", NO_CALL),
        (
            "list_deployments#1/timeout/before",
            "the phase of timeout must be before_commit or after_commit, not 'before'",
        ),
        (
            "list_deployments#1/outage/before_commit",
            "the phase of outage must be lasting, not 'before_commit'",
        ),
        (
            "list_deployments#1/abort:forbidden/after_commit",
            "the phase of abort:forbidden must be lasting, not 'after_commit'",
        ),
        (
            "list_deployments#1/zzz/lasting",
            f"there is no fault 'zzz'; there are {', '.join([*KINDS, *WAITING_KINDS, *OUTCOMES])}, "
            "long_limit and abort:CODE",
        ),
    ],
)
def test_the_refusal_of_a_trial_says_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_trial(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "timeout",
        "create_user_api_key#0/timeout/after_commit",
        "create_user_api_key#1/timeot/after_commit",
        "create_user_api_key#1/abort:rate_limit/before_commit",
        "create_user_api_key#1000000/timeout/after_commit",
        "accept/list_deployments",
        "accept/list_deployments#x",
        "alter/list_deployments/2xx/remove:items",
    ],
)
def test_any_other_text_is_no_trial(text: str) -> None:
    with pytest.raises(ValueError, match=r"^'.*' is not a |^there is no "):
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


def test_a_key_that_belongs_to_another_request_is_tried_once_at_each_call() -> None:
    plan = plan_trials(requests(*[call for call in CALLS for _ in range(2)]), [])

    tried = [
        trial.point.request
        for trial in (*plan.required, *plan.others)
        if trial.point.fault == "abort:idempotency_key_reused"
    ]

    assert sorted(tried) == sorted(f"{call}#1" for call in set(CALLS) if ALL_CALLS[call].idempotent)


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


def test_a_long_wait_before_a_retry_is_tried_once(plan: TrialPlan) -> None:
    trials = [*plan.required, *plan.others]
    limited = [trial.point for trial in trials if trial.point.fault == "long_limit"]
    assert [point.number for point in limited] == [1]


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
