"""Time: the clock of the world stands still until the test advances it, and no test waits."""

from __future__ import annotations

from datetime import timedelta

import httpx

from pytest_hosting_emulator import HostingEmulator


def deployments(emulator: HostingEmulator, token: str) -> httpx.Response:
    url = f"{emulator.base_url}/v1/projects/{emulator.project}/deployments"
    return httpx.get(url, headers={"Authorization": f"Bearer {token}"})


def test_an_expired_token_is_refused(hosting_emulator: HostingEmulator):
    token = hosting_emulator.token("reader", lifetime="60s")

    before = deployments(hosting_emulator, token)
    hosting_emulator.clock.advance("1m")
    after = deployments(hosting_emulator, token)

    assert (before.status_code, after.json()["code"]) == (200, "unauthenticated")


def test_an_api_key_expires_after_90_days(hosting_emulator: HostingEmulator):
    key = hosting_emulator.api_key("owner")

    hosting_emulator.clock.advance(timedelta(days=90, seconds=-1))
    assert deployments(hosting_emulator, key).status_code == 200

    hosting_emulator.clock.advance(1)
    assert deployments(hosting_emulator, key).status_code == 401


def test_the_clock_advances_until_an_operation_ends(hosting_emulator: HostingEmulator):
    url = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/domains"
    headers = hosting_emulator.headers("owner", key="domains-1")

    operation = httpx.put(url, headers=headers).json()

    assert hosting_emulator.clock.until(operation) == "succeeded"
