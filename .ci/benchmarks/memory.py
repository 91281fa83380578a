"""Memory of the emulator: when it is ready, and while it answers a million requests.

Four reads to one write with a fresh Idempotency-Key; world time moves on by 25 hours between the
loads, so that remembered answers expire: they are set to be remembered for a day. The state stays as large as
it was, so whatever grows is ours. Everything is kept on disk, as is the default.

When the journal has grown long the whole world is written out, in memory that the process then keeps.
That comes once in a million requests; so it is done once before "flat" begins to be judged.
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
#: How much more than after the first 100,000 requests counts as flat.
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
    """Return the figures; loads of so many seconds follow each other until `count` are answered."""
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
            f"{settled:.0f} MB once the world was written out",
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
