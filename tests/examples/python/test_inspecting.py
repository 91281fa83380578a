"""Inspecting the world: its requests, the state of an operation, snapshots and forks."""

from __future__ import annotations

import httpx
import pytest

from pytest_hosting_emulator import HostingEmulator


def set_flag(emulator: HostingEmulator, enabled: bool, user: str = "owner") -> int:
    url = f"{emulator.base_url}/v1/projects/{emulator.project}/powered-by-flag"
    headers = emulator.headers(user, key=f"flag-{enabled}")
    return httpx.put(url, json={"enabled": enabled}, headers=headers).status_code


def test_the_request_log_shows_who_made_a_request(hosting_emulator: HostingEmulator):
    set_flag(hosting_emulator, False)
    set_flag(hosting_emulator, False, user="reader")

    (request,) = hosting_emulator.requests.assert_made("set_project_powered_by_flag", user="owner")
    assert request.body == {"enabled": False}
    hosting_emulator.requests.assert_made(status=403, user="reader", times=1)
    hosting_emulator.requests.assert_not_made("list_deployments")


def test_a_failed_assertion_names_the_nearest_request(hosting_emulator: HostingEmulator):
    set_flag(hosting_emulator, False, user="reader")

    with pytest.raises(AssertionError, match=r"nearest:\n  #1 was made by reader"):
        hosting_emulator.requests.assert_made("set_project_powered_by_flag", user="owner")


def test_why_explains_the_state_of_an_operation(hosting_emulator: HostingEmulator):
    url = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/domains"
    operation = httpx.put(url, headers=hosting_emulator.headers("owner", key="domains-1")).json()

    why = hosting_emulator.why(operation)

    assert (why.state, why.next is not None) == ("queued", True)


def test_a_snapshot_and_a_fork_leave_the_world_unchanged(hosting_emulator: HostingEmulator):
    with hosting_emulator.snapshot():
        hosting_emulator.intervene("set_plan", organization="acme", plan="free")
        hosting_emulator.clock.advance("1d")
    assert hosting_emulator.clock.now.startswith("2026-01-01")

    copy = hosting_emulator.fork()
    set_flag(copy, False)
    copy.requests.assert_made("set_project_powered_by_flag", times=1)
    hosting_emulator.requests.assert_not_made("set_project_powered_by_flag")
