"""Simultaneous readers of the request log delay neither each other nor other requests."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.support.server_in_loop import PATIENCE_S, ServerInLoop

READERS = 64
#: Simultaneous reads may take this many times as long as sequential reads. The target is 1.5; the rest
#: is for a busy machine. Readers that wait for each other take more than 10 times as long.
MOST_RATIO = 4.0


async def read(server: ServerInLoop, path: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        f"GET /_emulator/worlds/default/{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        "Connection: close\r\n\r\n".encode()
    )
    response = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    assert response.startswith(b"HTTP/1.1 200"), response[:500]
    return response.partition(b"\r\n\r\n")[2]


async def fill_log(server: ServerInLoop) -> None:
    for _ in range(20):
        await asyncio.gather(*(server.send_one_request(PATIENCE_S) for _ in range(50)))


@pytest.mark.slow
async def test_readers_at_once_take_no_longer_than_one_after_another(server: ServerInLoop):
    await fill_log(server)
    path = "requests?status=404"
    ratios = []
    for _ in range(3):
        began_s = time.perf_counter()
        for _ in range(READERS):
            await read(server, path)
        between_s = time.perf_counter()
        await asyncio.gather(*(read(server, path) for _ in range(READERS)))
        ratios.append((time.perf_counter() - between_s) / (between_s - began_s))
    assert min(ratios) < MOST_RATIO, ratios


@pytest.mark.slow
@pytest.mark.parametrize("path", ["requests?limit=1000", "requests.har"])
async def test_other_requests_are_served_while_the_whole_log_is_read(
    server: ServerInLoop, path: str
):
    await fill_log(server)
    reading = asyncio.gather(*(read(server, path) for _ in range(4)))
    served = 0
    while not reading.done():
        assert await server.send_one_request(PATIENCE_S) == "whole"
        served += 1

    await reading
    assert served >= 5


async def test_a_reader_that_reads_nothing_delays_no_other(server: ServerInLoop):
    await asyncio.gather(*(server.send_one_request(PATIENCE_S) for _ in range(200)))
    idle = []
    for _ in range(3):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1_024)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(
            f"GET /_emulator/worlds/default/requests.har HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{server.port}\r\n\r\n".encode()
            * 20
        )
        idle.append(writer)
    await server.run_briefly()

    assert await read(server, "requests?limit=1000")
    for writer in idle:
        writer.transport.abort()
