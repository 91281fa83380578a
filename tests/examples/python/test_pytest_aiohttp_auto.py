"""With pytest-aiohttp, `asyncio_mode = auto`: testing an aiohttp application that uses the API."""

from __future__ import annotations

import aiohttp
from aiohttp import web
from aiohttp.pytest_plugin import AiohttpClient

from pytest_hosting_emulator import HostingEmulator


def our_application(hosting_url: str, project: str, token: str) -> web.Application:
    """Stands for your application: it shows the newest deployment, or `unknown`."""

    async def newest(_: web.Request) -> web.Response:
        url = f"{hosting_url}/v1/projects/{project}/deployments?limit=1"
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(headers=headers) as http, http.get(url) as response:
            if response.status != 200:
                return web.json_response({"newest": "unknown"})
            return web.json_response({"newest": (await response.json())["items"][0]["status"]})

    application = web.Application()
    application.router.add_get("/newest", newest)
    return application


async def test_the_application_shows_the_newest_deployment(
    hosting_emulator: HostingEmulator, aiohttp_client: AiohttpClient
):
    application = our_application(
        hosting_emulator.base_url, hosting_emulator.project, hosting_emulator.token("reader")
    )
    client = await aiohttp_client(application)

    usual_page = await (await client.get("/newest")).json()
    with hosting_emulator.fault("abort", code="service_unavailable", call="list_deployments"):
        outage_page = await (await client.get("/newest")).json()

    assert (usual_page, outage_page) == ({"newest": "ready"}, {"newest": "unknown"})
