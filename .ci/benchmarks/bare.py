"""The baseline server: an aiohttp application with one route that always returns the same bytes.

It runs in a separate process, reads the route and the response as JSON from stdin, and prints its
port.
"""

from __future__ import annotations

import asyncio
import json
import sys

from aiohttp import web


async def serve(method: str, path: str, status: int, content_type: str, body: bytes) -> None:
    async def handle(_: web.Request) -> web.Response:
        return web.Response(status=status, body=body, content_type=content_type)

    application = web.Application()
    application.router.add_route(method, path, handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    order = json.loads(sys.stdin.readline())
    order["body"] = order["body"].encode()
    asyncio.run(serve(**order))
