"""Scenarios: the initial world of a test, by name, in the test itself, or for a whole class."""

from __future__ import annotations

import httpx
import pytest

from hosting_emulator.sdk import ControlRefused
from pytest_hosting_emulator import HostingEmulator


def apply_domains(emulator: HostingEmulator) -> httpx.Response:
    url = f"{emulator.base_url}/v1/projects/{emulator.project}/domains"
    return httpx.put(url, headers=emulator.headers("owner", key="domains-1"))


@pytest.mark.hosting_scenario("stuck-operation")
def test_the_operation_of_the_scenario_is_stuck(hosting_emulator: HostingEmulator):
    operation = apply_domains(hosting_emulator).json()
    hosting_emulator.clock.advance("30s")

    assert hosting_emulator.why(operation).state == "running"
    assert "stuck" in str(hosting_emulator.why(operation))


@pytest.mark.hosting_scenario(
    faults=[{"abort": {"code": "rate_limited", "retry_after_seconds": 7}, "times": 1}]
)
def test_the_rate_limit_states_its_retry_after(hosting_emulator: HostingEmulator):
    first = apply_domains(hosting_emulator)
    hosting_emulator.clock.advance("7s")
    second = apply_domains(hosting_emulator)

    assert (first.status_code, first.headers["Retry-After"]) == (429, "7")
    assert second.status_code == 202


class TestDuringAnOutage:
    @pytest.fixture
    def hosting_emulator_scenario(self) -> str:
        return "provider-outage"

    def test_domains_are_refused(self, hosting_emulator: HostingEmulator):
        assert apply_domains(hosting_emulator).json()["code"] == "service_unavailable"


def test_time_does_not_end_a_stuck_operation(hosting_emulator: HostingEmulator):
    operation = apply_domains(hosting_emulator).json()
    hosting_emulator.intervene("stick_operation", project="shop")

    with pytest.raises(ControlRefused, match="stuck"):
        hosting_emulator.clock.until(operation)
