"""With httpx: a `Client` or an `AsyncClient` whose base URL is that of the world."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from pytest_hosting_emulator import HostingEmulator


@pytest.fixture
def owner(hosting_emulator: HostingEmulator) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=hosting_emulator.base_url, headers=hosting_emulator.headers("owner")
    ) as client:
        yield client


def test_domains_are_applied(hosting_emulator: HostingEmulator, owner: httpx.Client):
    path = f"/v1/projects/{hosting_emulator.project}/domains"

    accepted = owner.put(path, headers={"Idempotency-Key": "domains-1"}).json()
    hosting_emulator.clock.until(accepted)
    operation = owner.get(f"/v1/operations/{accepted['id']}").json()

    assert (accepted["state"], operation["state"]) == ("queued", "succeeded")


@pytest.mark.asyncio
async def test_concurrent_changes_are_all_accepted(hosting_emulator: HostingEmulator):
    path = f"/v1/projects/{hosting_emulator.project}/domains"

    async with httpx.AsyncClient(
        base_url=hosting_emulator.base_url, headers=hosting_emulator.headers("owner")
    ) as owner:
        responses = await asyncio.gather(
            *(owner.put(path, headers={"Idempotency-Key": f"domains-{n}"}) for n in range(3))
        )

    assert {response.status_code for response in responses} == {202}
    hosting_emulator.requests.assert_made("apply_project_domains", times=3)
