"""The plan of an exploration: every request meets each fault, and equivalent points are merged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES, FaultPoint
from hosting_emulator_lab.judge.point_plan import (
    LIMIT,
    READ,
    REPEATED,
    SAME_LIMIT,
    SLOW,
    plan_points,
)
from hosting_emulator_lab.judge.wire_faults import fault_at
from tests.lab.judge.samples import exchange, requests
from tests.support.fault_kinds import kinds_of_faults
from tests.support.in_process import InProcess

CHANGE_CALL = "create_user_api_key"
READ_CALL = "list_deployments"


def test_the_plan_tries_every_fault_kind_that_needs_no_target():
    """The other kinds need a target, or look to a client like a kind that is tried."""
    left_out = {
        "duplicate_response",
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
    assert set(KINDS) == kinds_of_faults() - left_out


@pytest.mark.parametrize("call", CALLS)
def test_every_planned_fault_can_be_armed(call: str):
    api = InProcess()
    run_plan = plan_points(requests(call), faults=[*KINDS, "abort:*", "gateway_error:504"])
    passing_points = [point for point in run_plan.points if point.lasting is None]

    fault_ids = [api.add_fault(**fault_at(point, run_plan.requests[0])) for point in passing_points]

    assert fault_ids
    assert {api.record("faults", fault_id).rule.times for fault_id in fault_ids} == {1}


def test_only_a_problem_that_is_not_retryable_lasts():
    for code, problem in PROBLEMS.items():
        points = plan_points(requests(CHANGE_CALL), faults=[f"abort:{code}"]).points

        assert ("lasting" in {point.phase for point in points}) is not problem.retryable, code


def test_each_outcome_is_planned_only_for_requests_that_it_suits():
    calls = ("apply_project_domains", CHANGE_CALL, "get_operation")

    faults_by_call: dict[str, set[str]] = {call: set() for call in calls}
    for point in plan_points(requests(*calls), faults=OUTCOMES).points:
        faults_by_call[point.call].add(point.fault)

    operation_outcomes = {
        "fail",
        "cancel",
        "stick",
        "exhaust",
        "reconcile",
        "long",
        "fail_retryable",
    }
    assert operation_outcomes < faults_by_call["apply_project_domains"]
    assert not operation_outcomes & (faults_by_call[CHANGE_CALL] | faults_by_call["get_operation"])
    assert "value_lost" in faults_by_call[CHANGE_CALL]
    assert "abort:interactive_login_required" in faults_by_call[CHANGE_CALL]
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


def test_a_quick_plan_is_a_tenth_with_the_most_revealing_points_first():
    calls = ("apply_project_domains", CHANGE_CALL, READ_CALL, "get_dns_authorization")
    full_plan = plan_points(requests(*calls), faults=[*KINDS, *OUTCOMES])

    run_plan = plan_points(requests(*calls), faults=[*KINDS, *OUTCOMES], quick=True)

    assert len(run_plan.points) == -(-len(full_plan.points) // 10)
    assert [point.fault for point in run_plan.points[:2]] == ["fail", "value_lost"]
    assert len(run_plan.left_out) == len(full_plan.points) - len(run_plan.points)
    assert (run_plan.left_out_by, full_plan.left_out) == ("quick", ())
    limited_plan = plan_points(requests(*calls), faults=KINDS, max_runs=1)
    assert limited_plan.left_out_by == "the limit on runs"


def test_a_quick_plan_tries_at_least_six_points():
    run_plan = plan_points(
        requests("read_database_compute"), faults=[*KINDS, *OUTCOMES], quick=True
    )

    assert len(run_plan.points) == 6


def test_a_change_meets_each_fault_before_and_after_its_commit():
    run_plan = plan_points(requests(CHANGE_CALL), faults=["timeout"])

    assert [str(point) for point in run_plan.points] == [
        "create_user_api_key#1/timeout/after_commit",
        "create_user_api_key#1/timeout/before_commit",
    ]
    assert run_plan.merged == ()


def test_a_request_at_which_a_test_injects_a_fault_gets_no_second_wire_fault():
    """A second fault would take the place of the test's fault, so the test would do something else."""
    acted = ("fault-1 (connection_reset, after_commit) acted, hit 1",)
    retried = number_requests(
        [exchange(CHANGE_CALL, 201, why=acted), exchange(CHANGE_CALL, 201, n=2, replayed=True)]
    )

    run_plan = plan_points(retried, faults=["slow_response"])

    assert [point.request for point in run_plan.points] == ["create_user_api_key#2"]


def test_the_two_phases_of_a_read_are_merged():
    run_plan = plan_points(requests(READ_CALL), faults=["timeout"])

    assert [point.phase for point in run_plan.points] == ["before_commit"]
    assert [
        (merged.point.phase, merged.into.phase, merged.reason) for merged in run_plan.merged
    ] == [("after_commit", "before_commit", READ)]


def test_a_refused_request_is_planned_only_before_its_commit():
    refused = number_requests([exchange(CHANGE_CALL, 409, code="idempotency_key_reused")])

    run_plan = plan_points(refused, faults=["timeout"])

    assert [point.phase for point in run_plan.points] == ["before_commit"]
    assert run_plan.merged == ()


def test_a_slow_response_to_a_change_is_planned_once():
    run_plan = plan_points(requests(CHANGE_CALL), faults=["slow_response"])

    assert [point.phase for point in run_plan.points] == ["before_commit"]
    assert [merged.reason for merged in run_plan.merged] == [SLOW]


def test_the_rate_limit_refusal_is_planned_once_however_it_is_armed():
    run_plan = plan_points(requests(CHANGE_CALL), faults=["abort", "rate_limit"])

    assert Counter(merged.reason for merged in run_plan.merged) == {SAME_LIMIT: 2, LIMIT: 1}
    assert {str(point) for point in run_plan.points if point.fault == "rate_limit"} == {
        "create_user_api_key#1/rate_limit/before_commit"
    }
    assert not [point for point in run_plan.points if point.fault == "abort:rate_limited"]


def test_the_rate_limit_refusal_is_planned_without_the_rate_limit_fault():
    run_plan = plan_points(requests(CHANGE_CALL), faults=["abort"])

    phases = [point.phase for point in run_plan.points if point.fault == "abort:rate_limited"]
    assert phases == ["before_commit"]


def test_only_the_first_and_the_last_of_equal_polls_are_planned():
    polls = number_requests(exchange("get_operation", path="/v1/operations/1") for _ in range(5))

    run_plan = plan_points(polls, faults=["timeout"])

    assert [point.number for point in run_plan.points] == [1, 5]
    repeated_reads = [merged for merged in run_plan.merged if merged.reason == REPEATED]
    assert [(merged.point.number, merged.into.number) for merged in repeated_reads] == [
        (2, 1),
        (3, 1),
        (4, 1),
    ]


def test_polls_of_different_operations_are_all_planned():
    polls = number_requests(
        exchange("get_operation", path=f"/v1/operations/{number}") for number in range(5)
    )

    points = plan_points(polls, faults=["timeout"]).points
    assert [point.number for point in points] == [1, 2, 3, 4, 5]


def test_a_limit_on_runs_is_shared_evenly_among_the_requests():
    calls = (CHANGE_CALL, READ_CALL, "get_dns_authorization", "set_project_powered_by_flag")

    run_plan = plan_points(requests(*calls), faults=KINDS, max_runs=9)

    assert sorted(Counter(point.call for point in run_plan.points).values()) == [2, 2, 2, 3]
    full_plan = plan_points(requests(*calls), faults=KINDS)
    assert (*run_plan.points, *run_plan.left_out) == full_plan.points


def test_the_calls_option_limits_the_plan_to_requests_of_those_calls():
    run_plan = plan_points(requests(CHANGE_CALL, READ_CALL), faults=["timeout"], calls=[READ_CALL])

    assert {point.call for point in run_plan.points} == {READ_CALL}


def test_a_refused_request_counts_in_both_phases():
    log = [exchange(CHANGE_CALL), exchange(CHANGE_CALL, 409), exchange(CHANGE_CALL)]
    third_request = number_requests(log)[2]

    def skipped_count(phase: str) -> int:
        point = FaultPoint.read(f"{CHANGE_CALL}#3/timeout/{phase}")
        return int(fault_at(point, third_request)["skip_first"])

    assert (skipped_count("before_commit"), skipped_count("after_commit")) == (2, 2)


@pytest.mark.parametrize(
    ("fault", "options"),
    [
        ("timeout", {}),
        ("abort", {"code": "service_unavailable"}),
        ("abort:forbidden", {"code": "forbidden"}),
        ("gateway_error", {"status": 502}),
        ("gateway_error:504", {"status": 504}),
        ("rate_limit", {"limit": 0, "window": "1s"}),
        ("latency", {"delay_ms": 700}),
    ],
)
def test_the_word_of_a_fault_determines_its_options(fault: str, options: dict[str, Any]):
    point = FaultPoint(READ_CALL, 1, fault, "before_commit")

    armed_fault = fault_at(point, requests(READ_CALL)[0], late_ms=700)

    assert armed_fault[point.fault.partition(":")[0]] == options


@pytest.mark.parametrize(
    ("fault", "response_bytes", "effect"),
    [
        ("truncate", 99, {"bytes": 49}),
        ("slow_response", 500, {"bytes_per_second": 500}),
        ("slow_response", 0, {"bytes_per_second": 500}),
        ("slow_response", 1, {"bytes_per_second": 1}),
    ],
)
def test_a_response_is_cut_in_the_middle_and_slowed_to_one_second(
    fault: str, response_bytes: int, effect: dict[str, int]
):
    point = FaultPoint(READ_CALL, 1, fault, "before_commit")

    armed_fault = fault_at(point, replace(requests(READ_CALL)[0], response_bytes=response_bytes))

    assert armed_fault[fault] == effect
