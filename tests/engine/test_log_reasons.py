"""The complete reasons in the request log, and the time of a retry under a skip clock."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.in_process import InProcess, fresh_world

#: The initial time of each world: 2026-01-01T00:00:00Z.
MIDNIGHT_MS = 1_767_225_600_000
RATE_LIMITED = {"code": "rate_limited", "retry_after_seconds": 7}


def reasons(api: InProcess) -> list[tuple[str, ...]]:
    """Return the reasons of each request in the log."""
    return [entry.why for entry in api.engine.log.after(0)]


@pytest.mark.parametrize("response", ["first", "second"])
def test_the_log_says_why_a_request_was_delivered_twice(response: str) -> None:
    api = InProcess()
    api.add_fault(deliver_twice={"response": response})
    api.apply_domains()

    assert reasons(api) == [
        (
            "fault-1 (deliver_twice) acted, hit 1: the client receives the response to the "
            f"{response} delivery",
        ),
        (
            "fault-1 (deliver_twice) sent this second delivery of request 1",
            "replay of the first response for this Idempotency-Key (202)",
        ),
    ]


def test_the_log_says_which_state_a_stale_response_shows() -> None:
    api = InProcess()
    api.advance("1m")
    api.add_fault(stale_read={"age": "10s"})
    api.dns()

    assert reasons(api) == [
        (
            "fault-1 (stale_read) acted, hit 1: the response shows the state as of "
            "2026-01-01T00:00:50.000Z",
        )
    ]


def test_a_stale_read_before_an_operation_existed_is_refused_and_counted() -> None:
    api = InProcess()
    api.advance("1m")
    fault_id = api.add_fault(stale_read={"age": "10s", "breaking": True}, call="get_operation")
    operation = api.apply_domains().json["id"]

    refusals = [api.poll(operation) for _ in range(2)]

    assert [refused.status for refused in refusals] == [404, 404]
    detail = "No such operation exists within your access."
    assert {refused.json["detail"] for refused in refusals} == {detail}
    assert api.record("faults", fault_id).hits == 2
    assert [why[0] for why in reasons(api)[1:]] == [
        f"{fault_id} (stale_read) acted, hit {hit}: the response shows the state as of "
        "2026-01-01T00:00:50.000Z"
        for hit in (1, 2)
    ]


def test_the_log_says_that_the_skip_clock_waited_for_a_retry() -> None:
    api = InProcess(fresh_world(mode="skip"))
    api.add_fault(abort=RATE_LIMITED, times=1)
    for _ in range(3):
        api.dns()

    first, second, third = reasons(api)
    moved = (
        "the skip clock moved to 2026-01-01T00:00:07.000Z, the end of the wait after the previous "
        "response"
    )
    assert moved not in first
    assert second == (moved,)
    assert third == ()


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        ({"abort": RATE_LIMITED}, 7),
        ({"abort": RATE_LIMITED, "until": "5s"}, 7),
        ({"abort": {"code": "forbidden"}, "until": "5s"}, 5),
        ({"abort": {"code": "forbidden"}}, 0),
        ({"stale_read": {"age": "10s"}}, 10),
    ],
    ids=str,
)
def test_a_retry_moves_the_skip_clock_to_the_time_at_which_it_makes_sense(
    fault: dict[str, Any], seconds: int
) -> None:
    api = InProcess(fresh_world(mode="skip"))
    api.add_fault(**fault)
    for _ in range(2):
        api.dns()

    _, second = api.engine.log.after(0)
    assert second.at_ms == MIDNIGHT_MS + seconds * 1000


def test_other_requests_do_not_move_the_skip_clock_to_the_end_of_a_wait() -> None:
    api = InProcess(fresh_world(mode="skip"))
    api.add_fault(abort=RATE_LIMITED, times=1)
    api.dns()
    api.dns(user="member")
    api.deployments()
    api.set_flag(True)

    assert {entry.at_ms for entry in api.engine.log.after(0)} == {MIDNIGHT_MS}
