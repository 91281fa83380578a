"""The plan of runs: every request meets each fault, and equivalent points are merged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES, FaultPoint, faults_for
from hosting_emulator_lab.judge.point_plan import (
    LIMIT,
    READ,
    REPEATED,
    SAME_LIMIT,
    plan_points,
)
from hosting_emulator_lab.judge.wire_faults import fault_at
from tests.lab.judge.samples import exchange, requests
from tests.support.fault_kinds import kinds_of_faults
from tests.support.in_process import InProcess

MUTATION = "create_user_api_key"
READING = "list_deployments"


def test_the_plan_tries_every_fault_kind_that_needs_no_target():
    """The others need a target, or look to a client like a fault that is tried."""
    left_out = {
        "respond",
        "redirect",
        "reset_in_body",
        "wrong_content_length",
        "refuse_connections",
        "slow_upload",
        "reset_in_upload",
        "sliced_response",
        "stalled_response",
        "bad_certificate",
        "alter",
        "deliver_twice",
        "stale_read",
        "admission_window",
        "admission_queue",
    }
    assert set(KINDS) == kinds_of_faults() - left_out - {"duplicate_response"}


@pytest.mark.parametrize("call", CALLS)
def test_every_planned_fault_can_be_armed(call: str):
    api = InProcess()
    run_plan = plan_points(requests(call), faults=[*KINDS, "abort:*", "gateway_error:504"])
    passing = [point for point in run_plan.points if point.lasting is None]

    fault_ids = [api.add_fault(**fault_at(point, run_plan.requests[0])) for point in passing]

    assert fault_ids
    assert {api.record("faults", fault_id).rule.times for fault_id in fault_ids} == {1}


@pytest.mark.parametrize("word", ["timeout/lasting", "fail/before_commit", "stick/after_commit"])
def test_lasting_faults_and_passing_faults_accept_only_their_own_phases(word: str):
    with pytest.raises(ValueError, match="there"):
        FaultPoint.read(f"apply_project_domains#1/{word}")


def test_only_a_problem_that_is_not_retryable_lasts():
    for code, problem in PROBLEMS.items():
        points = plan_points(requests(MUTATION), faults=[f"abort:{code}"]).points

        assert ("lasting" in {point.phase for point in points}) is not problem.retryable, code


def test_each_outcome_is_planned_only_for_requests_that_it_suits():
    calls = ("apply_project_domains", MUTATION, "get_operation")

    faults_by_call: dict[str, set[str]] = {call: set() for call in calls}
    for point in plan_points(requests(*calls), faults=OUTCOMES).points:
        faults_by_call[point.call].add(point.fault)

    operation_outcomes = {"fail", "cancel", "stick", "exhaust", "reconcile", "long"}
    assert operation_outcomes < faults_by_call["apply_project_domains"]
    assert not operation_outcomes & (faults_by_call[MUTATION] | faults_by_call["get_operation"])
    assert "value_lost" in faults_by_call[MUTATION]
    assert "abort:interactive_login_required" in faults_by_call[MUTATION]
    assert faults_by_call["get_operation"] == {
        "outage",
        "token_expired",
        "limited",
        "abort:forbidden",
        "abort:resource_not_found",
    }


def test_a_blocked_operation_is_planned_only_for_the_first_operation_of_a_project():
    calls = ("apply_project_domains", "initialize_managed_source")
    log = number_requests(exchange(call, project="01JGFJJZ00TGEYDG0VT5J9EZXF") for call in calls)

    points = plan_points(log, faults=["blocked"]).points

    assert [point.request for point in points] == ["apply_project_domains#1"]


def test_a_quick_plan_is_a_tenth_with_the_most_telling_points_first():
    calls = ("apply_project_domains", MUTATION, READING, "get_dns_authorization")
    full_plan = plan_points(requests(*calls), faults=[*KINDS, *OUTCOMES])

    run_plan = plan_points(requests(*calls), faults=[*KINDS, *OUTCOMES], quick=True)

    assert len(run_plan.points) == -(-len(full_plan.points) // 10)
    assert [point.fault for point in run_plan.points[:2]] == ["fail", "value_lost"]
    assert len(run_plan.left_out) == len(full_plan.points) - len(run_plan.points)
    assert (run_plan.left_out_by, full_plan.left_out) == ("quick", ())
    assert (
        plan_points(requests(*calls), faults=KINDS, max_runs=1).left_out_by == "the limit on runs"
    )


def test_a_quick_plan_tries_at_least_six_points():
    run_plan = plan_points(
        requests("read_database_compute"), faults=[*KINDS, *OUTCOMES], quick=True
    )

    assert len(run_plan.points) == 6


def test_a_change_meets_each_fault_before_and_after_its_commit():
    run_plan = plan_points(requests(MUTATION), faults=["timeout"])

    assert [str(point) for point in run_plan.points] == [
        "create_user_api_key#1/timeout/after_commit",
        "create_user_api_key#1/timeout/before_commit",
    ]
    assert run_plan.merged == ()


def test_the_two_phases_of_a_read_are_merged():
    run_plan = plan_points(requests(READING), faults=["timeout"])

    assert [point.phase for point in run_plan.points] == ["before_commit"]
    assert [(merge.point.phase, merge.into.phase, merge.reason) for merge in run_plan.merged] == [
        ("after_commit", "before_commit", READ)
    ]


def test_a_refused_request_is_planned_only_before_its_commit():
    refused = number_requests([exchange(MUTATION, 409, code="idempotency_key_reused")])

    run_plan = plan_points(refused, faults=["timeout"])

    assert [point.phase for point in run_plan.points] == ["before_commit"]
    assert run_plan.merged == ()


def test_the_rate_limit_refusal_is_planned_once_however_it_is_armed():
    run_plan = plan_points(requests(MUTATION), faults=["abort", "rate_limit"])

    assert Counter(merged.reason for merged in run_plan.merged) == {SAME_LIMIT: 2, LIMIT: 1}
    assert {str(point) for point in run_plan.points if point.fault == "rate_limit"} == {
        "create_user_api_key#1/rate_limit/before_commit"
    }
    assert not [point for point in run_plan.points if point.fault == "abort:rate_limited"]


def test_the_rate_limit_refusal_is_planned_without_the_rate_limit_fault():
    run_plan = plan_points(requests(MUTATION), faults=["abort"])

    phases = [point.phase for point in run_plan.points if point.fault == "abort:rate_limited"]
    assert phases == ["before_commit"]


def test_only_the_creation_of_a_key_is_tried_with_an_uncertain_result():
    uncertain = [call for call in CALLS if len(faults_for(call, ["abort"])) > 2]

    assert uncertain == ["create_user_api_key"]


def test_a_plan_can_try_every_problem_code():
    assert len(faults_for(READING, ["abort:*", "abort"])) == len(PROBLEMS)


def test_only_the_first_and_the_last_of_equal_polls_are_planned():
    polls = number_requests(exchange("get_operation", path="/v1/operations/1") for _ in range(5))

    run_plan = plan_points(polls, faults=["timeout"])

    assert [point.number for point in run_plan.points] == [1, 5]
    repeated = [merge for merge in run_plan.merged if merge.reason == REPEATED]
    assert [(merge.point.number, merge.into.number) for merge in repeated] == [
        (2, 1),
        (3, 1),
        (4, 1),
    ]


def test_polls_of_different_operations_are_all_planned():
    polls = number_requests(exchange("get_operation", path=f"/v1/operations/{n}") for n in range(5))

    assert [point.number for point in plan_points(polls, faults=["timeout"]).points] == [
        1,
        2,
        3,
        4,
        5,
    ]


def test_a_limit_on_runs_is_shared_evenly_among_the_requests():
    calls = (MUTATION, READING, "get_dns_authorization", "set_project_powered_by_flag")

    run_plan = plan_points(requests(*calls), faults=KINDS, max_runs=9)

    assert sorted(Counter(point.call for point in run_plan.points).values()) == [2, 2, 2, 3]
    full_plan = plan_points(requests(*calls), faults=KINDS)
    assert (*run_plan.points, *run_plan.left_out) == full_plan.points


def test_the_calls_option_limits_the_plan_to_requests_of_those_calls():
    run_plan = plan_points(requests(MUTATION, READING), faults=["timeout"], calls=[READING])

    assert {point.call for point in run_plan.points} == {READING}


def test_requests_without_a_caller_or_a_call_are_not_numbered():
    log = [
        exchange(READING, 401, principal=None),
        exchange(None, 404),
        exchange(READING),
        exchange(READING, 400),
        exchange(READING),
    ]

    numbered = number_requests(log)

    assert [(request.number, request.succeeded) for request in numbered] == [
        (1, True),
        (2, False),
        (3, True),
    ]


def test_a_request_that_a_fault_of_the_world_hit_is_not_counted_for_other_faults():
    def trail_of(kind: str, phase: str) -> list[str]:
        return [f"fault-1 ({kind}, {phase}) acted, hit 1"]

    log = [
        exchange(MUTATION, 503, why=trail_of("abort", "before_commit")),
        exchange(MUTATION, 200, why=trail_of("latency", "before_commit")),
        exchange(MUTATION, 200, why=trail_of("truncate", "after_commit")),
        exchange(MUTATION),
    ]

    numbered = number_requests(log)

    assert [
        (request.number, request.number_after_commit, request.succeeded) for request in numbered
    ] == [
        (1, 1, True),
        (2, 1, False),
        (3, 2, True),
    ]


def test_a_refused_request_counts_in_both_phases():
    third = number_requests([exchange(MUTATION), exchange(MUTATION, 409), exchange(MUTATION)])[2]

    def skipped_count(phase: str) -> int:
        point = FaultPoint.read(f"{MUTATION}#3/timeout/{phase}")
        return int(fault_at(point, third)["skip_first"])

    assert (skipped_count("before_commit"), skipped_count("after_commit")) == (2, 2)


@pytest.mark.parametrize(
    ("fault", "response_bytes", "effect"),
    [
        ("truncate", 99, {"bytes": 49}),
        ("slow_response", 500, {"bytes_per_second": 500}),
        ("slow_response", 0, {"bytes_per_second": 1}),
    ],
)
def test_a_response_is_cut_in_the_middle_and_slowed_to_one_second(
    fault: str, response_bytes: int, effect: dict[str, int]
):
    point = FaultPoint(READING, 1, fault, "before_commit")

    armed_fault = fault_at(point, replace(requests(READING)[0], response_bytes=response_bytes))

    assert armed_fault[fault] == effect


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("nonsense", "write CALL#N/FAULT/PHASE"),
        ("list_deployments#0/timeout/before_commit", "write CALL#N/FAULT/PHASE"),
        ("list_deployment#1/timeout/before_commit", "did you mean list_deployments?"),
        ("list_deployments#1/timeot/before_commit", "did you mean timeout?"),
        ("list_deployments#1/abort:rate_limit/before_commit", "did you mean abort:rate_limited?"),
        ("list_deployments#1/timeout/before", "before_commit"),
    ],
)
def test_the_refusal_of_an_invalid_point_suggests_a_correction(text: str, suggestion: str):
    with pytest.raises(ValueError, match="no") as error:
        FaultPoint.read(text)

    assert suggestion in str(error.value)


def test_every_written_point_is_read_back_unchanged():
    for point in plan_points(requests(*CALLS), faults=[*KINDS, "abort:*"]).points:
        assert FaultPoint.read(str(point)) == point
