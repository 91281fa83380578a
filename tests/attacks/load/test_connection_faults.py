"""A thousand requests through each connection fault, fifty at a time, leave nothing open.

Server and clients share this process and one event loop, so that every task, socket and byte that
could leak is in sight.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from tests.support.emulator_in_loop import emulator_in_loop
from tests.support.held_connections import OPEN_DESCRIPTORS
from tests.support.server_in_loop import (
    PARALLEL_CLIENTS,
    PATIENCE_S,
    SILENCE_S,
    ServerInLoop,
    assert_nothing_open,
    memory,
)

REQUESTS = 1_000
#: Fills the request log and the history, with numbers above those that Python caches.
WARM_UP = REQUESTS + 300
#: The most additional blocks of memory. If each request left one object, there would be a thousand.
FLAT_BLOCKS = 500
#: The most additional memory of the process, whose allocators do not return everything.
FLAT_RESIDENT_KB = 8_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not OPEN_DESCRIPTORS.exists(), reason="looks at this process through /proc"),
]


@pytest.fixture
async def server() -> AsyncIterator[ServerInLoop]:
    """An emulator without the check at the end, because these tests check it themselves."""
    async with emulator_in_loop() as emulator:
        yield ServerInLoop(emulator)


@pytest.mark.parametrize(
    ("effect", "options", "end"),
    [
        ("timeout", {}, "silent"),
        ("connection_reset", {}, "reset"),
        pytest.param("empty_response", {}, "empty", marks=pytest.mark.torture),
        pytest.param("truncate", {"bytes": 20}, "cut", marks=pytest.mark.torture),
        pytest.param("malformed_response", {}, "whole", marks=pytest.mark.torture),
        pytest.param(
            "slow_response", {"bytes_per_second": 10_000}, "whole", marks=pytest.mark.torture
        ),
    ],
)
async def test_a_thousand_requests_through_a_fault_leave_nothing_open(
    server: ServerInLoop, effect: str, options: dict[str, int], end: str
):
    fault = server.add_fault(**{effect: options})
    patience_s = SILENCE_S if end == "silent" else PATIENCE_S
    await server.send_requests(WARM_UP, patience_s)
    before = await server.wait_until_quiet()
    memory_before = memory()

    ends = await server.send_requests(REQUESTS, patience_s)

    after = await server.wait_until_quiet()
    memory_after = memory()
    print(f"\n{effect}: {memory_before} -> {memory_after}")
    assert ends == {end: REQUESTS}
    assert server.hits(fault) == WARM_UP + REQUESTS
    assert_nothing_open(before, after)
    assert memory_after.blocks - memory_before.blocks < FLAT_BLOCKS
    assert memory_after.resident_kb - memory_before.resident_kb < FLAT_RESIDENT_KB


async def test_the_measurement_counts_open_tasks_and_connections(server: ServerInLoop):
    before = await server.wait_until_quiet()
    server.add_fault(timeout={})
    clients = asyncio.gather(
        *(server.send_one_request(PATIENCE_S) for _ in range(PARALLEL_CLIENTS))
    )

    try:
        during = await server.wait_until_quiet(2 * PARALLEL_CLIENTS)
    finally:
        clients.cancel()
        with suppress(asyncio.CancelledError):
            await clients

    assert during.tasks >= before.tasks + 2 * PARALLEL_CLIENTS
    assert during.connections == 2 * PARALLEL_CLIENTS


@pytest.mark.parametrize(
    "fault",
    [
        {"latency": {"delay_ms": 600_000}, "after_commit": True},
        {"slow_response": {"bytes_per_second": 50}},
        {"timeout": {}, "after_commit": True},
    ],
    ids=["latency", "slow_response", "timeout"],
)
async def test_clients_that_give_up_leave_nothing_open(
    server: ServerInLoop, fault: dict[str, object]
):
    await server.send_requests(PARALLEL_CLIENTS, PATIENCE_S)
    before = await server.wait_until_quiet()
    server.add_fault(**fault)

    ends = await server.send_requests(4 * PARALLEL_CLIENTS, SILENCE_S)

    assert ends == {"silent": 4 * PARALLEL_CLIENTS}
    assert_nothing_open(before, await server.wait_until_quiet())
