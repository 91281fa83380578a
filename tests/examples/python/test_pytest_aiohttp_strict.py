"""With pytest-aiohttp, `asyncio_mode = strict`: with marks and `pytest_asyncio.fixture`."""

from __future__ import annotations

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.pytest_plugin import AiohttpClient
from aiohttp.test_utils import TestClient

from pytest_hosting_emulator import HostingEmulator

pytestmark = pytest.mark.asyncio


def our_application(hosting_url: str, project: str, token: str) -> web.Application:
    """Stands for your application: it hides the flag and passes on the status."""

    async def hide(_: web.Request) -> web.Response:
        url = f"{hosting_url}/v1/projects/{project}/powered-by-flag"
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "hide-1"}
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            http.put(url, json={"enabled": False}) as response,
        ):
            return web.Response(status=response.status)

    application = web.Application()
    application.router.add_post("/hide", hide)
    return application


@pytest_asyncio.fixture
async def client(
    hosting_emulator: HostingEmulator, aiohttp_client: AiohttpClient
) -> TestClient[web.Request, web.Application]:
    return await aiohttp_client(
        our_application(
            hosting_emulator.base_url, hosting_emulator.project, hosting_emulator.token("owner")
        )
    )


async def test_hiding_the_flag_twice_is_replayed(
    hosting_emulator: HostingEmulator, client: TestClient[web.Request, web.Application]
):
    statuses = [(await client.post("/hide")).status for _ in range(2)]

    assert statuses == [200, 200]
    hosting_emulator.requests.assert_made("set_project_powered_by_flag", replayed=True, times=1)
