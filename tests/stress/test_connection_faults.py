"""A thousand requests through each connection fault, fifty at a time: nothing is left behind.

Server and clients share this process and one event loop, so that every task, socket and byte that
could leak is in sight.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.faults.reading import arm
from hosting_emulator.settings import Settings
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import Change
from hosting_emulator.world.zones import DEFAULT_WORLD

REQUESTS = 1_000
AT_A_TIME = 50
#: How many more blocks of memory may be in use than before (a request that left one thing behind
#: would leave a thousand), and how much more of the process (whose allocators keep what they like).
FLAT_BLOCKS, FLAT_RESIDENT_KB = 500, 8_000
#: How long a client waits for what never comes, and for what surely does.
BRIEF_S, LONG_S = 0.02, 10.0

_DESCRIPTORS = Path("/proc/self/fd")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _DESCRIPTORS.exists(), reason="looks at this process through /proc"),
]


@dataclass(frozen=True)
class Footprint:
    """What this process holds on to."""

    tasks: int
    descriptors: int
    established: int
    blocks: int
    resident_kb: int


class Stage:
    """A running emulator, and clients in the same loop."""

    def __init__(self, emulator: Emulator) -> None:
        ready = emulator.ready()
        parts = urlsplit(ready.base_url)
        self.port = int(parts.port or 0)
        engine = emulator.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        self.engine = engine
        self.request = (
            f"GET /v1/projects/{ready.project_id}/edge-dns HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Authorization: Bearer {ready.token}\r\nConnection: close\r\n\r\n"
        ).encode()

    def arm(self, **document: object) -> str:
        change = Change(self.engine.world, self.engine.settle())
        fault = arm(change, document)
        self.engine.commit(change, "armed")
        return fault.id

    def hits(self, fault_id: str) -> int:
        found = self.engine.world.get(FAULTS, fault_id)
        assert found is not None
        return found.hits

    async def one(self, patience_s: float) -> str:
        """Send one request on a connection of its own, and say how that ended."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self.request)
            got = await asyncio.wait_for(reader.read(), patience_s)
        except TimeoutError:
            return "silent"
        except ConnectionResetError:
            return "reset"
        finally:
            writer.close()
        head, _, body = got.partition(b"\r\n\r\n")
        if not head:
            return "empty"
        announced = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        return "cut" if len(body) < announced else "whole"

    async def many(self, count: int, patience_s: float) -> Counter[str]:
        """Send so many, some at a time."""
        ends: Counter[str] = Counter()
        left = iter(range(count))

        async def work() -> None:
            for _ in left:
                ends[await self.one(patience_s)] += 1

        await asyncio.gather(*(work() for _ in range(AT_A_TIME)))
        return ends

    async def quiet(self) -> Footprint:
        """Wait until the server has noticed that its clients are gone, and look."""
        before = None
        for _ in range(100):
            await asyncio.sleep(0.01)
            now = (len(asyncio.all_tasks()), len(list(_DESCRIPTORS.iterdir())))
            if now == before:
                break
            before = now
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return Footprint(
            *now,
            self._established(),
            sys.getallocatedblocks(),
            pages * os.sysconf("SC_PAGE_SIZE") // 1024,
        )

    def _established(self) -> int:
        """Count this process's TCP connections to or from the server, but those in TIME_WAIT."""
        port = f":{self.port:04X}"
        rows = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
        idle = {"06", "0A"}  # TIME_WAIT, LISTEN
        return sum(port in (row[1][-5:], row[2][-5:]) and row[3] not in idle for row in rows)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    emulator = Emulator(Settings(port=0, data_dir=None))
    await emulator.start()
    yield Stage(emulator)
    await emulator.stop()


def assert_nothing_open(before: Footprint, after: Footprint) -> None:
    assert after.tasks == before.tasks
    assert after.descriptors == before.descriptors
    assert after.established == 0


@pytest.mark.parametrize(
    ("effect", "options", "end"),
    [
        ("timeout", {}, "silent"),
        ("connection_reset", {}, "reset"),
        ("empty_response", {}, "empty"),
        ("truncate", {"bytes": 20}, "cut"),
        ("malformed_response", {}, "whole"),
        ("slow_response", {"bytes_per_second": 10_000}, "whole"),
    ],
)
async def test_a_thousand_requests_leave_nothing(
    stage: Stage, effect: str, options: dict[str, int], end: str
):
    fault = stage.arm(**{effect: options})
    patience_s = BRIEF_S if end == "silent" else LONG_S
    await stage.many(REQUESTS, patience_s)  # fills the request log, and whatever has its fill
    before = await stage.quiet()

    ends = await stage.many(REQUESTS, patience_s)

    after = await stage.quiet()
    print(f"\n{effect}: {before} -> {after}")
    assert ends == {end: REQUESTS}
    assert stage.hits(fault) == 2 * REQUESTS
    assert_nothing_open(before, after)
    assert after.blocks - before.blocks < FLAT_BLOCKS
    assert after.resident_kb - before.resident_kb < FLAT_RESIDENT_KB


async def test_what_is_open_is_seen(stage: Stage):
    before = await stage.quiet()
    stage.arm(timeout={})
    clients = asyncio.gather(*(stage.one(LONG_S) for _ in range(AT_A_TIME)))

    during = await stage.quiet()

    clients.cancel()
    with suppress(asyncio.CancelledError):
        await clients
    assert during.tasks >= before.tasks + 2 * AT_A_TIME
    assert during.descriptors == before.descriptors + 2 * AT_A_TIME
    assert during.established == 2 * AT_A_TIME


@pytest.mark.parametrize(
    "fault",
    [
        {"latency": {"delay_ms": 600_000}, "phase": "after_commit"},
        {"slow_response": {"bytes_per_second": 50}},
        {"timeout": {}, "phase": "after_commit"},
    ],
    ids=["latency", "slow_response", "timeout"],
)
async def test_clients_that_give_up_leave_nothing(stage: Stage, fault: dict[str, object]):
    await stage.many(AT_A_TIME, LONG_S)
    before = await stage.quiet()
    stage.arm(**fault)

    ends = await stage.many(4 * AT_A_TIME, BRIEF_S)

    assert ends == {"silent": 4 * AT_A_TIME}
    assert_nothing_open(before, await stage.quiet())
