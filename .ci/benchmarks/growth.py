"""The cost of each call in a large world compared with small worlds, measured without sockets.

HTTP costs the same in all worlds, so it would only mask a difference. The worlds take turns in one
process, one small block of calls at a time. A block's cost is its duration divided by the number of
calls. The lowest cost of many blocks is the cost of the call when nothing else on the machine
interferes.
"""

from __future__ import annotations

import gc
import os

from benchmarks.core import Case, Core
from benchmarks.report import Figure
from benchmarks.servers import resident_mb

PART = "growth"
BAR = 1.2
SIZES = (100, 10_000, 1_000_000)
QUICK_SIZES = (100, 10_000)


def measure(rounds: int, sizes: tuple[int, ...] = SIZES) -> list[Figure]:
    """Return a figure for each call, and figures for the memory of worlds and of remembered responses."""
    before_mb = resident_mb(os.getpid())
    cores = [Core(size) for size in sizes]
    held_mb = resident_mb(os.getpid()) - before_mb
    gc.collect()
    gc.freeze()  # The emulator does the same once it is ready.
    figures = [
        _figure(call, sizes, [case, *(other for _, other in others)], rounds)
        for (call, case), *others in zip(*(core.cases() for core in cores), strict=True)
    ]
    gc.unfreeze()
    return [*figures, _memory(sizes[-1], held_mb), _remembered(sizes[-1])]


def _figure(call: str, sizes: tuple[int, ...], cases: list[Case], rounds: int) -> Figure:
    for case in cases:
        case.block()
        case.costs_us.clear()
    for number in range(rounds):
        for case in cases if number % 2 else cases[::-1]:
            case.block()
    *few, many = [min(case.costs_us) for case in cases]
    smaller = zip(few, sizes[:-1], strict=True)
    return Figure(
        what=f"{call} among {sizes[-1]:,}",
        ours=f"{many:.1f} µs",
        theirs=", ".join(f"{cost:.1f} µs among {size:,}" for cost, size in smaller),
        ratio=many / few[0],
        bar=BAR,
        at_most=True,
        part=PART,
    )


def _remembered(count: int) -> Figure:
    """Return the memory for responses that never expire.

    Call 1 is used, because it creates no records.
    """
    core = Core(100)
    _, flag = next(core.cases())
    before_mb = resident_mb(os.getpid())
    for _ in range(count):
        flag.ask()
    held_mb = resident_mb(os.getpid()) - before_mb
    return Figure(
        what=f"memory for {count:,} remembered responses",
        ours=f"{held_mb:,.0f} MB",
        theirs="1 kB for each",
        ratio=held_mb * 1e6 / count / 1000,
        part=PART,
    )


def _memory(size: int, held_mb: float) -> Figure:
    return Figure(
        what=f"memory for {size:,} deployments and as many operations",
        ours=f"{held_mb:,.0f} MB",
        theirs="1 kB for each deployment and each operation",
        ratio=held_mb * 1e6 / (2 * size) / 1000,
        part=PART,
    )
