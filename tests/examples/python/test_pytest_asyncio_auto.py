"""With pytest-asyncio, `asyncio_mode = auto`: async tests and fixtures need no mark."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from pytest_hosting_emulator import HostingEmulator


@pytest.fixture
async def owner(hosting_emulator: HostingEmulator) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=hosting_emulator.base_url, headers=hosting_emulator.headers("owner")
    ) as client:
        yield client


async def test_the_value_of_a_key_is_shown_once(
    hosting_emulator: HostingEmulator, owner: httpx.AsyncClient
):
    path = f"/v1/organizations/{hosting_emulator.organization}/user-api-keys"
    headers = {"Idempotency-Key": "key-1"}

    first = (await owner.post(path, json={"name": "ci"}, headers=headers)).json()
    replay = (await owner.post(path, json={"name": "ci"}, headers=headers)).json()

    assert (first["replayed"], replay["replayed"], replay["value"]) == (False, True, None)
    assert first["key"]["id"] == replay["key"]["id"]
