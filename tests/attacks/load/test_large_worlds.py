"""Showing a world with many records lets the event loop handle other requests in between."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.large_worlds import commit_changes, fill_world
from tests.support.raw_requests import Requests
from tests.support.server_in_loop import ServerInLoop
from tests.support.server_internals import ROWS_AT_ONCE, ServerInternals

ROWS = 1_000
REQUESTS = 200
WORLD = "/_emulator/worlds/default"


async def read(server: ServerInLoop, path: str) -> Any:
    """Read a document of the world through the control API."""
    request = f"GET {WORLD}/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    response = await server.send_pieces(request.encode())
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    if b"chunked" in head.lower():
        chunks = body.split(b"\r\n")[1::2]
        body = b"".join(chunks)
    return json.loads(body)


async def turns_during(server: ServerInLoop, path: str) -> int:
    """Count the iterations of the event loop while a document is made and sent."""
    reading = asyncio.create_task(read(server, path))
    turns = 0
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)
    await reading
    return turns


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("operations", ROWS),
        ("operations?unfinished=true", ROWS // ROWS_AT_ONCE),
        ("keys", ROWS),
        ("timeline", ROWS // ROWS_AT_ONCE + REQUESTS),
        ("history?limit=1000", REQUESTS),
        ("report?requests=1000", REQUESTS),
        ("conduct", REQUESTS // 10),
    ],
)
async def test_other_requests_are_served_between_the_steps_of_work_on_a_large_world(
    server: ServerInLoop, internals: ServerInternals, path: str, steps: int
):
    fill_world(server.engine, ROWS)
    requests = Requests.of(server)
    await server.send_pieces(requests.get * REQUESTS + requests.last)
    commit_changes(server.engine, REQUESTS)
    await read(server, "conduct" if path != "conduct" else "history")
    at_least = await turns_during(server, "clock")
    internals.yield_after_each_step()

    assert await turns_during(server, path) >= at_least + steps
