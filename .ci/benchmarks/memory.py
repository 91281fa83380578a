"""The emulator's memory when it is ready, and while it handles a million requests.

There are four reads for each write with a new Idempotency-Key. Remembered responses are kept for a
day, and world time advances by 25 hours after each load, so they expire. The state therefore stays
the same size, and any growth is in the emulator itself. Everything is stored on disk, as by default.

When the journal becomes long, the whole world is written to a snapshot. The process keeps the memory
that this takes. A million requests trigger one snapshot, so the benchmark causes one before it
starts to check for growth.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.asked import FLAG, requests
from benchmarks.load import Request, load
from benchmarks.report import Figure
from benchmarks.servers import cores, emulator, port_of, resident_mb
from hosting_emulator.sdk import ControlClient

PART = "memory"
COUNT = 1_000_000
QUICK_COUNT = 200_000
SETTLED = 100_000
#: Memory counts as flat up to this multiple of the memory after the first 100,000 requests.
BAR = 1.1
_CALLS = (
    "list_deployments",
    "get_operation",
    "get_dns_authorization",
    FLAG,
    "read_database_compute",
)
_STARTED_WITH = ("--clock", "frozen", "--assume", "idempotency_retention=24h")


def measure(count: int = COUNT, seconds: float = 2) -> list[Figure]:
    """Return the figures. Runs loads of `seconds` each until `count` requests have been handled."""
    server, client = cores()
    with (
        tempfile.TemporaryDirectory() as folder,
        emulator(Path(folder), server, *_STARTED_WITH) as ready,
        ControlClient(ready["control_url"]) as control,
    ):
        at_start = resident_mb(ready["pid"])
        asked, answered, number = _requests(ready, control), 0, 0
        early = settled = most = 0.0
        while answered < count:
            fresh = [_with_key(request, number) for request in asked]
            answered += load(port_of(ready), fresh, seconds, client).answered
            number += 1
            control.world().clock.move(by="25h")
            resident = resident_mb(ready["pid"])
            if answered >= SETTLED and not settled:
                early = resident
                control.world().copy(name="written-out", ephemeral=False)
                control.world("written-out").delete()
                settled = resident = resident_mb(ready["pid"])
            most = max(most, resident)
    return [
        Figure(
            what=f"memory after {answered:,} requests",
            ours=f"at most {most:.0f} MB",
            theirs=f"{at_start:.0f} MB at start, {early:.0f} MB after {SETTLED:,}, "
            f"{settled:.0f} MB after the world was written to disk",
            ratio=most / settled,
            bar=BAR,
            at_most=True,
            part=PART,
        )
    ]


def _requests(ready: dict[str, Any], control: ControlClient) -> list[Request]:
    token = control.world().mint_token().access_token
    known = dict(requests({**ready, "token": token}))
    return [known[call] for call in _CALLS]


def _with_key(request: Request, number: int) -> Request:
    return replace(request, fresh=f"{request.fresh}{number}-") if request.fresh else request
