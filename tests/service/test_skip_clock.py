"""With the clock `skip`, a retry moves time by the wait that the previous response asked for."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import expect_problem


@pytest.fixture(autouse=True)
def skip_clock(hosting_emulator: HostingEmulator) -> None:
    """Let the world's clock skip."""
    hosting_emulator.clock.skip()


def seconds(api: CheckedWorld, since: Any) -> float:
    return float((api.now() - since).total_seconds())


def dns_status(api: CheckedWorld) -> int:
    """Return the status of call 5 without a check: a custom response follows no model."""
    return api.send("GET", api.project_path("edge-dns")).status


def test_a_retry_moves_time_by_exactly_its_retry_after(api: CheckedWorld) -> None:
    began = api.now()
    api.emulator.fault("abort", code="rate_limited", retry_after_seconds=7, until="20s")

    expect_problem(api.dns(), 429, "rate_limited")
    assert seconds(api, began) == 0
    expect_problem(api.dns(), 429, "rate_limited")
    assert seconds(api, began) == 7
    expect_problem(api.dns(), 429, "rate_limited")
    assert api.dns().status == 200
    assert seconds(api, began) == 21


def test_a_retry_moves_time_to_the_end_of_an_outage(api: CheckedWorld) -> None:
    """`exec --clock skip --scenario provider-outage` was once refused for ever."""
    began = api.now()
    api.emulator.load_scenario(name="provider-outage")
    api.emulator.clock.skip()

    expect_problem(api.initialize(1, key="one"), 503, "service_unavailable")
    accepted = api.initialize(1, key="one")

    assert accepted.status == 202
    assert seconds(api, began) == 300


def test_a_request_that_is_not_a_retry_does_not_move_time(api: CheckedWorld) -> None:
    began = api.now()
    api.emulator.fault(
        "abort", code="rate_limited", retry_after_seconds=7, call="list_deployments", times=1
    )

    expect_problem(api.deployments(), 429, "rate_limited")
    api.dns()
    api.deployments(user="reader")

    assert seconds(api, began) == 0
    assert api.deployments().status == 200
    assert seconds(api, began) == 7


def test_a_retry_moves_time_to_the_end_of_the_rate_limit_window(api: CheckedWorld) -> None:
    api.assume(rate_limit="2/60s")
    began = api.now()

    statuses = [api.dns().status for _ in range(4)]

    assert statuses == [200, 200, 429, 200]
    assert seconds(api, began) == 60


def test_a_retry_moves_time_to_the_recovery_in_the_timeline(api: CheckedWorld) -> None:
    text = """{"name": "x", "description": "x", "clock": {"mode": "skip"}, "timeline": [
      {"at": "0s", "intervene": {"fail_database_provider": {"project": "shop"}}},
      {"at": "90s", "intervene": {"recover_database_provider": {"project": "shop"}}}]}"""
    api.emulator.load_scenario(text=text)
    began = api.now()

    statuses = [api.compute().status for _ in range(2)]

    assert statuses == [503, 200]
    assert seconds(api, began) == 90


def test_a_retry_does_not_move_time_under_a_fault_without_an_end(api: CheckedWorld) -> None:
    began = api.now()
    api.emulator.fault("abort", code="service_unavailable")

    assert {api.dns().status for _ in range(3)} == {503}
    assert seconds(api, began) == 0


@pytest.mark.parametrize(
    "retry_after", ["soon", "Wed, 21 Oct 2026 07:28:00 GMT", "9" * 14, "9" * 5000]
)
def test_a_retry_after_without_seconds_does_not_move_time(
    api: CheckedWorld, retry_after: str
) -> None:
    """A custom header can have any value; the retry once got a server error."""
    began = api.now()
    api.emulator.fault("respond", status=502, headers={"Retry-After": retry_after})

    assert [dns_status(api) for _ in range(3)] == [502] * 3
    assert seconds(api, began) == 0


def test_a_retry_after_does_not_move_time_beyond_the_last_moment(api: CheckedWorld) -> None:
    api.emulator.fault("respond", status=502, headers={"Retry-After": "999999999"})
    api.emulator.clock.advance_to("9999-12-31T00:00:00Z")

    assert [dns_status(api) for _ in range(3)] == [502] * 3


def test_a_poll_at_the_last_moment_shows_the_operation_as_it_is(api: CheckedWorld) -> None:
    api.emulator.clock.advance_to("9999-12-31T23:59:59.999Z")
    operation = api.initialize().json["id"]

    assert [api.poll(operation).json["state"] for _ in range(2)] == ["queued", "queued"]


def test_the_log_explains_why_time_moved(api: CheckedWorld) -> None:
    api.emulator.fault("abort", code="rate_limited", retry_after_seconds=7, times=1)
    api.dns()
    api.dns()

    [moved] = [why for why in api.emulator.requests[-1].why if "skip clock" in why]

    assert moved.endswith(", the end of the wait after the previous response")
