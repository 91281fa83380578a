"""Reads that a fault lets show an earlier state, while access and every write stay current."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.support.checked_world import CheckedCalls
from tests.support.http_world import HttpWorld
from tests.support.in_process import InProcess, fresh_world

BLOG = "blog"


def last(api: InProcess) -> Any:
    """Return the latest exchange of the log."""
    return api.engine.log.after(0)[-1]


def status_of_dns(world: CheckedCalls | InProcess) -> str:
    return str(world.dns().json["status"])


# --- What a read shows -------------------------------------------------------------------------------


@pytest.mark.over_http
def test_a_change_shows_only_after_the_age_of_the_state(world: CheckedCalls):
    world.add_fault(stale_read={"age": "30s"}, call="get_dns_authorization")
    world.intervene("move_dns", project="shop", to="revoked")

    world.advance("29s")
    earlier = status_of_dns(world)
    world.advance("1s")

    assert (earlier, status_of_dns(world)) == ("authorized", "revoked")


@pytest.mark.over_http
def test_a_polled_operation_is_shown_as_it_was(world: CheckedCalls):
    operation = world.initialize(project=BLOG).json["id"]
    world.add_fault(stale_read={"age": "35s"}, call="get_operation")

    world.advance("40s")
    earlier = world.poll(operation).json
    world.advance("10s")
    later = world.poll(operation).json

    assert (earlier["state"], later["state"]) == ("running", "succeeded")
    assert earlier["progress"]["observed_at"] == "2026-01-01T00:00:05.000Z"


def test_events_that_were_due_since_the_last_commit_are_part_of_the_earlier_state():
    api = InProcess()
    operation = api.initialize(project=BLOG).json["id"]
    api.advance("1h")
    api.add_fault(stale_read={"age": "59m55s"}, times=1)

    assert api.poll(operation).json["state"] == "running"
    assert api.poll(operation).json["state"] == "succeeded"


def test_a_list_shows_the_deployments_of_an_earlier_state():
    api = InProcess()
    before = api.deployments(project=BLOG).json["items"]
    api.initialize(project=BLOG)
    api.add_fault(stale_read={"age": "1s"}, call="list_deployments", times=1)

    assert api.deployments(project=BLOG).json["items"] == before
    assert len(api.deployments(project=BLOG).json["items"]) == len(before) + 1


def test_the_oldest_known_state_is_shown_if_the_world_is_younger_than_the_age():
    api = InProcess()
    api.intervene("move_dns", project="shop", to="revoked")
    api.add_fault(stale_read={"age": "365d"})

    assert status_of_dns(api) == "authorized"


def test_a_state_that_was_rewound_is_never_shown():
    api = InProcess()
    snapshot = api.take_snapshot()
    api.intervene("move_dns", project="shop", to="revoked")
    api.advance("10s")
    api.dns()
    api.restore_snapshot(snapshot)
    api.add_fault(stale_read={"age": "1s"})

    assert status_of_dns(api) == "authorized"


def test_a_read_after_a_reset_does_not_show_the_world_before_it(
    hosting_emulator: HostingEmulator,
):
    hosting_emulator.intervene("move_dns", project="shop", to="revoked")
    hosting_emulator.reset()
    hosting_emulator.fault("stale_read", age="1h", times=1)

    assert HttpWorld(hosting_emulator).dns().json["status"] == "authorized"


# --- What stays current ------------------------------------------------------------------------------


def test_access_is_checked_in_the_current_state():
    api = InProcess()
    api.add_fault(stale_read={"age": "1h"}, optional=True)
    api.intervene("remove_member", organization="acme", user="member")

    assert api.dns(user="member").status == 404
    assert last(api).stale_at_ms is None


def test_a_poll_counts_although_its_response_is_stale():
    api = InProcess(fresh_world(source_profile="per_poll 1"))
    operation = api.initialize(project=BLOG).json["id"]
    api.advance("1m")
    fault = api.add_fault(stale_read={"age": "30s"})

    states = {api.poll(operation).json["state"] for _ in range(20)}

    assert states == {"queued"}
    assert api.record("operations", operation).state == "succeeded"
    assert api.record("faults", fault).hits == 20


def test_what_did_not_exist_yet_is_shown_as_it_is_unless_the_fault_is_breaking():
    api = InProcess()
    operation = api.initialize(project=BLOG).json["id"]
    fault = api.add_fault(stale_read={"age": "1m"}, call="get_operation")

    assert api.poll(operation).status == 200
    assert (api.record("faults", fault).seen, api.record("faults", fault).hits) == (1, 0)

    api.add_fault(stale_read={"age": "1m", "breaking": True}, call="get_operation")
    refused = api.poll(operation)

    assert (refused.status, refused.json["code"]) == (404, "resource_not_found")


def test_a_read_of_the_database_is_fresh_unless_the_fault_is_breaking():
    api = InProcess()
    api.advance("1h")
    fault = api.add_fault(stale_read={"age": "10m"})
    fresh = api.compute().json["observed_at"]

    api.add_fault(stale_read={"age": "10m", "breaking": True})
    stale = api.compute().json["observed_at"]

    assert (fresh, stale) == ("2026-01-01T01:00:00.000Z", "2026-01-01T00:50:00.000Z")
    assert api.record("faults", fault).hits == 0


def test_a_skip_clock_moves_on_until_the_reads_show_the_end():
    api = InProcess(fresh_world(mode="skip"))
    operation = api.apply_domains().json["id"]
    api.add_fault(stale_read={"age": "10m"}, call="get_operation")

    states = [api.poll(operation).json["state"] for _ in range(12)]

    assert states[-1] == "succeeded"


# --- Explanations ----------------------------------------------------------------------------------


def test_the_log_and_the_trail_say_which_state_a_response_shows(hosting_emulator: HostingEmulator):
    hosting_emulator.clock.advance("1m")
    hosting_emulator.fault("stale_read", age="20s", times=1)

    HttpWorld(hosting_emulator).dns()

    exchange = hosting_emulator.requests.whole(1)
    assert exchange.stale_at == "2026-01-01T00:00:40.000Z"
    trail = " ".join(step.text for step in exchange.trail)
    assert "The response shows the state as of 2026-01-01T00:00:40.000Z." in trail


def test_the_trail_says_why_a_read_is_not_stale(hosting_emulator: HostingEmulator):
    world = HttpWorld(hosting_emulator)
    operation = world.apply_domains().json["id"]
    fault = hosting_emulator.fault("stale_read", age="20s", optional=True)

    world.poll(operation)

    trail = " ".join(step.text for step in hosting_emulator.requests.whole(2).trail)
    assert "would be resource_not_found, which needs `breaking: true`" in trail
    assert "would be resource_not_found" in str(fault.unused)
