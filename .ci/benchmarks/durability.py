"""The cost of `--durability disk` at 64 connections, compared with one fsync for each request.

On a data center's disk, an fsync may take less time than a request to a Python server, so grouping
the fsyncs of several requests gains nothing. Therefore, the benchmark also measures a slower fsync,
which is typical of laptops.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.asked import FLAG, requests
from benchmarks.load import load
from benchmarks.report import Figure
from benchmarks.servers import cores, emulator, port_of
from hosting_emulator.sdk import ControlClient

PART = "durability"
BAR = 5.0
CONNECTIONS = 64
SLOW_MS = 2.0
_LINE = b"x" * 600 + b"\n"  # about as long as the line that a flag switch adds to the journal
_SYNCS = 200


def measure(rounds: int, seconds: float) -> list[Figure]:
    """Return the figures for this disk, for a slower disk, and for this disk compared with no fsync."""
    disks, slows, processes, syncs_ms = [], [], [], []
    for _ in range(rounds):
        syncs_ms.append(_sync_ms())
        disks.append(_rate(seconds, "disk"))
        processes.append(_rate(seconds, "process"))
        slows.append(_rate(seconds, "disk", slow=True))
    sync_ms = median(syncs_ms)
    return [
        _against(f"disk, 64 connections, fsync {sync_ms:.2f} ms", median(disks), sync_ms),
        _against(f"disk, with fsync slowed by {SLOW_MS:g} ms", median(slows), sync_ms + SLOW_MS),
        Figure(
            what="disk compared with process, 64 connections",
            ours=f"{median(disks):,.0f}/s",
            theirs=f"{median(processes):,.0f}/s without fsync",
            ratio=median(disks) / median(processes),
            part=PART,
        ),
    ]


def _against(what: str, rate: float, sync_ms: float) -> Figure:
    alone = 1000 / sync_ms
    return Figure(
        what=what,
        ours=f"{rate:,.0f}/s",
        theirs=f"{alone:,.0f} consecutive fsyncs/s",
        ratio=rate / alone,
        bar=BAR,
        part=PART,
    )


def _rate(seconds: float, durability: str, *, slow: bool = False) -> float:
    python = ("-m", "hosting_emulator_cli")
    if slow:
        python = (str(Path(__file__).with_name("slow_disk.py")), str(SLOW_MS))
    server, client = cores()
    with (
        tempfile.TemporaryDirectory() as folder,
        emulator(Path(folder), server, "--durability", durability, python=python) as ready,
        ControlClient(ready["control_url"]) as control,
    ):
        request = dict(requests(ready))[FLAG]
        # Warm up the server, so that it behaves as if it had been running for a while.
        load(port_of(ready), [replace(request, fresh="warm-")], 1, client, CONNECTIONS)
        control.world("default").reset()
        return load(port_of(ready), [request], seconds, client, CONNECTIONS).rate


def _sync_ms() -> float:
    """Return how many ms an append and its fsync take on the disk that contains the emulator's state."""
    with tempfile.NamedTemporaryFile() as file:
        descriptor = file.fileno()
        began = time.perf_counter()
        for _ in range(_SYNCS):
            os.write(descriptor, _LINE)
            os.fsync(descriptor)
        return (time.perf_counter() - began) * 1000 / _SYNCS
