"""With aiohttp as the client. With the mark, pytest-asyncio runs the test in either mode."""

from __future__ import annotations

import aiohttp
import pytest

from pytest_hosting_emulator import HostingEmulator


@pytest.mark.asyncio
async def test_deployments_are_listed(hosting_emulator: HostingEmulator):
    path = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/deployments"

    async with (
        aiohttp.ClientSession(headers=hosting_emulator.headers("reader")) as reader,
        reader.get(path, params={"limit": 1}) as response,
    ):
        page = await response.json()

    assert (response.status, len(page["items"])) == (200, 1)
