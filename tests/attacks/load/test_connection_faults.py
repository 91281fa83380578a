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
from tests.support.held_connections import PROC
from tests.support.stage import (
    AT_A_TIME,
    BRIEF_S,
    LONG_S,
    Stage,
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
    pytest.mark.skipif(not PROC.exists(), reason="looks at this process through /proc"),
]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """An emulator without the check at the end, because these tests check it themselves."""
    async with emulator_in_loop() as emulator:
        yield Stage(emulator)


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
    stage: Stage, effect: str, options: dict[str, int], end: str
):
    fault = stage.add_fault(**{effect: options})
    patience_s = BRIEF_S if end == "silent" else LONG_S
    await stage.many(WARM_UP, patience_s)
    before = await stage.quiet()
    memory_before = memory()

    ends = await stage.many(REQUESTS, patience_s)

    after = await stage.quiet()
    memory_after = memory()
    print(f"\n{effect}: {memory_before} -> {memory_after}")
    assert ends == {end: REQUESTS}
    assert stage.hits(fault) == WARM_UP + REQUESTS
    assert_nothing_open(before, after)
    assert memory_after.blocks - memory_before.blocks < FLAT_BLOCKS
    assert memory_after.resident_kb - memory_before.resident_kb < FLAT_RESIDENT_KB


async def test_the_measurement_counts_open_tasks_and_connections(stage: Stage):
    before = await stage.quiet()
    stage.add_fault(timeout={})
    clients = asyncio.gather(*(stage.send_one_request(LONG_S) for _ in range(AT_A_TIME)))

    try:
        during = await stage.quiet(2 * AT_A_TIME)
    finally:
        clients.cancel()
        with suppress(asyncio.CancelledError):
            await clients

    assert during.tasks >= before.tasks + 2 * AT_A_TIME
    assert during.connections == 2 * AT_A_TIME


@pytest.mark.parametrize(
    "fault",
    [
        {"latency": {"delay_ms": 600_000}, "phase": "after_commit"},
        {"slow_response": {"bytes_per_second": 50}},
        {"timeout": {}, "phase": "after_commit"},
    ],
    ids=["latency", "slow_response", "timeout"],
)
async def test_clients_that_give_up_leave_nothing_open(stage: Stage, fault: dict[str, object]):
    await stage.many(AT_A_TIME, LONG_S)
    before = await stage.quiet()
    stage.add_fault(**fault)

    ends = await stage.many(4 * AT_A_TIME, BRIEF_S)

    assert ends == {"silent": 4 * AT_A_TIME}
    assert_nothing_open(before, await stage.quiet())
