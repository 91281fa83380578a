"""Faults that pause: trouble that ends, comes back and ends again, in world time."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import cli
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.checked_world import CheckedCalls
from tests.support.http_world import HttpWorld
from tests.support.in_process import InProcess, fresh_world

OUTAGE = {"abort": {"code": "service_unavailable"}, "until": "100s"}


def statuses_after(world: CheckedCalls | InProcess, *durations: str) -> list[int]:
    """Return the status of a read after each of these durations."""
    statuses = []
    for duration in durations:
        world.advance(duration)
        statuses.append(world.dns().status)
    return statuses


@pytest.mark.over_http
def test_a_brown_out_recovers_relapses_and_recovers(world: CheckedCalls):
    world.add_fault(**OUTAGE, pauses=["30s", "90s"])

    assert world.dns().status == 503
    assert statuses_after(world, "29s", "1s", "59s", "1s", "9s", "1s") == [
        503,
        200,
        200,
        503,
        503,
        200,
    ]


def test_a_fault_can_pause_several_times():
    api = InProcess()
    api.add_fault(**OUTAGE, pauses=["10s", "20s", "30s", "40s"])

    assert statuses_after(api, "10s", "10s", "10s", "10s") == [200, 503, 200, 503]


def test_a_skip_clock_moves_to_the_pause_of_the_fault_that_refused_the_request():
    api = InProcess(fresh_world(mode="skip"))
    api.add_fault(**OUTAGE, pauses=["30s", "90s"])
    began_ms = api.engine.now_ms()

    assert [api.dns().status for _ in range(2)] == [503, 200]
    assert api.engine.now_ms() == began_ms + 30_000


def test_the_pauses_of_an_armed_fault_are_timestamps(hosting_emulator: HostingEmulator):
    fault = hosting_emulator.fault("timeout", pauses=["30s", "90s"], optional=True)

    assert fault.now.written["pauses"] == ["2026-01-01T00:00:30.000Z", "2026-01-01T00:01:30.000Z"]


def test_the_command_line_takes_a_pause_as_two_times(
    hosting_emulator: HostingEmulator,
    hosting_emulator_server: BackgroundEmulator,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("HOSTING_EMULATOR_URL", hosting_emulator_server.ready.base_url)
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", hosting_emulator.name)
    arguments = ["fault", "add", "timeout", "--pause", "10s,20s", "--pause", "30s,40s"]

    CliRunner().invoke(cli, arguments, catch_exceptions=False)

    (fault,) = hosting_emulator.faults
    assert [moment[17:19] for moment in fault.now.written["pauses"]] == ["10", "20", "30", "40"]


def test_a_fault_in_its_pause_says_when_it_acts_again(hosting_emulator: HostingEmulator):
    fault = hosting_emulator.fault("timeout", pauses=["30s", "90s"], optional=True)
    hosting_emulator.clock.advance("40s")

    HttpWorld(hosting_emulator).dns()

    assert "its rule is paused until 2026-01-01T00:01:30.000Z" in str(fault.unused)
