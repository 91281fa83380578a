"""With pytest-asyncio, `asyncio_mode = strict` (the default): async tests and fixtures are marked."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from pytest_hosting_emulator import HostingEmulator

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def owner(hosting_emulator: HostingEmulator) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=hosting_emulator.base_url, headers=hosting_emulator.headers("owner")
    ) as client:
        yield client


async def test_polling_advances_time_with_the_skip_clock(
    hosting_emulator: HostingEmulator, owner: httpx.AsyncClient
):
    hosting_emulator.clock.skip()  # each poll advances time to the next event
    path = f"/v1/projects/{hosting_emulator.project}/domains"
    operation = (await owner.put(path, headers={"Idempotency-Key": "domains-1"})).json()

    polls = 0
    while operation["state"] in {"queued", "running"}:
        operation = (await owner.get(f"/v1/operations/{operation['id']}")).json()
        polls += 1

    assert (operation["state"], polls < 10) == ("succeeded", True)
