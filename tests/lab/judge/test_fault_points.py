"""Points are written as text, and each call has the faults that are worth trying on it."""

from __future__ import annotations

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator_lab.judge.fault_points import (
    KEY_REUSED,
    KINDS,
    FaultPoint,
    check_faults,
    faults_for,
)
from hosting_emulator_lab.judge.point_plan import plan_points
from tests.lab.judge.samples import requests


def test_every_written_point_is_read_back_unchanged():
    for point in plan_points(requests(*CALLS), faults=[*KINDS, "abort:*"]).points:
        assert FaultPoint.read(str(point)) == point


def test_a_gateway_error_has_a_status_of_a_proxy():
    statuses = (200, *range(400, 410), *range(499, 512), 599)
    accepted = [status for status in statuses if is_fault(f"gateway_error:{status}")]

    assert accepted == [500, 502, 503, 504]


def is_fault(word: str) -> bool:
    try:
        check_faults([word])
    except ValueError:
        return False
    return True


def test_only_the_creation_of_a_key_is_tried_with_an_uncertain_result():
    uncertain = [call for call in CALLS if len(faults_for(call, ["abort"])) > 2]

    assert uncertain == ["create_user_api_key"]


def test_every_change_with_an_idempotency_key_is_tried_with_a_key_that_belongs_to_another_request():
    tried = [call for call in CALLS if KEY_REUSED in faults_for(call, ["refused"])]

    assert tried == [call for call in CALLS if CALLS[call].idempotent]


def test_a_call_can_be_tried_with_every_problem_code():
    assert len(faults_for("list_deployments", ["abort:*", "abort"])) == len(PROBLEMS)


def test_wire_stands_for_all_kinds_of_wire_faults():
    faults = faults_for("list_deployments", ["wire"])

    assert faults == faults_for("list_deployments", KINDS)
    assert {"timeout", "abort:rate_limited"} <= set(faults)
