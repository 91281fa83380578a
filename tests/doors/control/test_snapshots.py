"""Snapshots over the control API: a stored state of a world that can be restored."""

from typing import Any

import pytest

from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.sdk import ControlRefused
from tests.support.http_world import HttpWorld


def snapshots(api: HttpWorld, rest: str = "") -> str:
    return f"worlds/{api.emulator.name}/snapshots{rest}"


def take(api: HttpWorld) -> Any:
    return api.emulator.control.post(snapshots(api), {})


def state(api: HttpWorld) -> Any:
    document = api.emulator.export()
    del document["commit"]
    return document


def test_a_restored_snapshot_brings_back_state_time_faults_and_assumptions(api: HttpWorld):
    control = api.emulator.control
    api.set_flag(False)
    operation = api.apply_domains().json["id"]
    api.emulator.clock.advance("3s")
    before = state(api)
    polled = api.poll(operation).body

    snapshot = take(api)
    api.set_flag(True)
    api.emulator.clock.advance("90d")
    api.emulator.fault("abort", code="rate_limited")
    api.emulator.set_assumptions({"default_page_size": 5})
    summary = control.post(snapshots(api, f"/{snapshot['id']}/restore"))

    assert state(api) == before
    assert api.poll(operation).body == polled
    assert summary["clock"]["now"] == snapshot["at"] == "2026-01-01T00:00:03.000Z"
    assert summary["commit"] > snapshot["commit"]


def test_a_restored_snapshot_keeps_the_request_log_and_the_tokens(api: HttpWorld):
    api.dns()
    snapshot = take(api)
    api.dns()
    api.emulator.control.post(snapshots(api, f"/{snapshot['id']}/restore"))

    assert api.dns().status == 200
    assert api.emulator.control.get(f"worlds/{api.emulator.name}/requests")["total"] == 3


def test_a_snapshot_can_be_restored_several_times(api: HttpWorld):
    snapshot = take(api)
    for _ in range(3):
        assert api.set_flag(True).json["enabled"] is True
        api.emulator.control.post(snapshots(api, f"/{snapshot['id']}/restore"))
        assert api.poll("none").status == 404


def test_snapshots_are_listed_and_deleted(api: HttpWorld):
    control = api.emulator.control
    first = take(api)
    second = take(api)
    assert control.get(snapshots(api))["items"] == [first, second]

    control.delete(snapshots(api, f"/{first['id']}"))

    assert control.get(snapshots(api))["items"] == [second]
    with pytest.raises(
        ControlRefused, match="there is no snapshot 'snapshot-1'; the snapshots are snapshot-2"
    ):
        control.post(snapshots(api, "/snapshot-1/restore"))


def test_a_restored_scaled_clock_continues_from_its_stored_time(api: HttpWorld):
    api.emulator.clock.set("scaled", rate=0.001)
    snapshot = take(api)
    api.emulator.clock.advance("10d")

    summary = api.emulator.control.post(snapshots(api, f"/{snapshot['id']}/restore"))

    assert summary["clock"]["now"][:18] == snapshot["at"][:18]


@pytest.mark.parametrize("where", ["its own world", "another", "a new one"])
def test_the_scaled_clock_of_an_exported_state_stood_still_meanwhile(api: HttpWorld, where: str):
    control = api.emulator.control
    name = api.emulator.name
    api.emulator.clock.set("scaled", rate=0.001)
    exported = api.emulator.export()
    # The state is 1,000 days old.
    exported["tables"]["clock"]["world"]["machine_ms"] -= 86_400_000_000
    began_ms = exported["at_ms"]

    if where == "a new one":
        summary = control.post("worlds", {"name": f"{name}-new", "state": exported})
    else:
        summary = control.put(f"worlds/{name}{'-other' * (where == 'another')}/state", exported)

    assert parse_timestamp(summary["clock"]["now"]) - began_ms < 60_000
    if summary["name"] != name:
        control.delete(f"worlds/{summary['name']}")
