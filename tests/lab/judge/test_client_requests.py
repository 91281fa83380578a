"""The requests of a run are numbered in the same way as a fault counts them."""

from __future__ import annotations

from hosting_emulator_lab.judge.client_requests import number_requests
from tests.lab.judge.samples import exchange

CHANGE_CALL = "create_user_api_key"
READ_CALL = "list_deployments"


def test_requests_without_a_caller_or_a_call_are_not_numbered():
    log = [
        exchange(READ_CALL, 401, user_id=None),
        exchange(None, 404),
        exchange(READ_CALL),
        exchange(READ_CALL, 400),
        exchange(READ_CALL),
    ]

    requests = number_requests(log)

    assert [(request.number, request.succeeded) for request in requests] == [
        (1, True),
        (2, False),
        (3, True),
    ]


def test_a_request_that_a_fault_of_the_world_hit_is_not_counted_for_other_faults():
    def explanation(kind: str, phase: str) -> list[str]:
        return [f"fault-1 ({kind}, {phase}) acted, hit 1"]

    log = [
        exchange(CHANGE_CALL, 503, why=explanation("abort", "before_commit")),
        exchange(CHANGE_CALL, 200, why=explanation("latency", "before_commit")),
        exchange(CHANGE_CALL, 200, why=explanation("truncate", "after_commit")),
        exchange(CHANGE_CALL),
    ]

    requests = number_requests(log)

    assert [
        (request.number, request.number_after_commit, request.succeeded) for request in requests
    ] == [
        (1, 1, True),
        (2, 1, False),
        (3, 2, True),
    ]
