"""The time to create, fork, reset, restore and delete a world, and the memory that worlds need.

Both are measured over the control API, with the client that the CLI and the pytest plugin use, and
in this process without sockets.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, ParamSpec, TypeVar

from benchmarks.report import Figure
from benchmarks.servers import cores, emulator, resident_mb
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.sdk import ControlClient
from hosting_emulator.world.records import WorldSource

PART = "worlds"
MANY = 1000
MOST_MB = 100.0
_FROZEN = WorldSource(mode="frozen")
P = ParamSpec("P")
R = TypeVar("R")


class Watch:
    """Measures the duration of named steps, in milliseconds of real time."""

    def __init__(self) -> None:
        self._took_ms: dict[str, list[float]] = {}

    def time(self, name: str, step: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Run a step once, and return its result."""
        began = time.perf_counter()
        made = step(*args, **named)
        self._took_ms.setdefault(name, []).append((time.perf_counter() - began) * 1000)
        return made

    def medians_ms(self) -> dict[str, float]:
        """Return the median duration of each step."""
        return {name: median(took) for name, took in self._took_ms.items()}


def measure(rounds: int) -> list[Figure]:
    """Return the figures for single steps and for a thousand worlds."""
    with (
        tempfile.TemporaryDirectory() as folder,
        emulator(Path(folder), cores()[0]) as ready,
        ControlClient(ready["control_url"]) as control,
    ):
        outside = _over_http(control, rounds)
    inside = _in_process(rounds)
    nothing = outside.pop("health")
    return [
        *(_step(name, took, nothing, inside.get(name)) for name, took in outside.items()),
        _thousand("in memory", ephemeral=True),
        _thousand("on disk", ephemeral=False),
    ]


def _step(name: str, took: float, nothing: float, inside: float | None) -> Figure:
    within = "" if inside is None else f", {inside * 1000:,.0f} µs in process"
    return Figure(
        what=f"{name} (control API{' and in process' if within else ''})",
        ours=f"{took:.2f} ms{within}",
        theirs=f"{nothing:.2f} ms for a health check",
        ratio=took / nothing,
        part=PART,
    )


def _over_http(control: ControlClient, rounds: int) -> dict[str, float]:
    watch = Watch()
    for number in range(rounds):
        own, copy = f"own-{number}", f"copy-{number}"
        watch.time("health", control.health)
        made = watch.time("create, in memory", control.create_world, clock={"mode": "frozen"})
        watch.time("create, on disk", control.create_world, own, clock={"mode": "frozen"})
        watch.time("fork", control.world(own).copy, copy, ephemeral=True)
        watch.time("reset", control.world(copy).reset)
        taken = watch.time("snapshot", control.post, f"worlds/{copy}/snapshots", {})
        path = f"worlds/{copy}/snapshots/{taken['id']}/restore"
        watch.time("restore", control.post, path, {})
        watch.time("delete", control.world(copy).delete)
        control.world(own).delete()
        control.world(made.name).delete()
    return watch.medians_ms()


def _in_process(rounds: int) -> dict[str, float]:
    watch = Watch()
    worlds = Worlds(None)
    for number in range(rounds):
        own, copy = f"own-{number}", f"copy-{number}"
        made = watch.time("create, in memory", worlds.create, own, "seed", _FROZEN, ephemeral=True)
        engine = watch.time("fork", worlds.fork, made, copy, ephemeral=True)
        watch.time("reset", worlds.reset, engine)
        watch.time("snapshot", engine.snapshots.take, engine.world, engine.now_ms())
        taken = next(iter(engine.snapshots.values()))
        watch.time("restore", engine.restore, taken)
        watch.time("delete", worlds.delete, copy)
        worlds.delete(own)
    return watch.medians_ms()


def _thousand(where: str, *, ephemeral: bool) -> Figure:
    """Return the memory of a thousand worlds, before and after a token and a change in each."""
    with tempfile.TemporaryDirectory() as folder, emulator(Path(folder), cores()[0]) as ready:
        pid: int = ready["pid"]
        with ControlClient(ready["control_url"]) as control:
            # Load the modules that are imported at first use, so that they do not count.
            _use(control, "first", ephemeral)
            before = resident_mb(pid)
            for number in range(MANY):
                control.create_world(f"many-{number}", clock=_clock(), ephemeral=ephemeral)
            fresh = resident_mb(pid) - before
            for number in range(MANY):
                _touch(control, f"many-{number}")
            touched = resident_mb(pid) - before
    return Figure(
        what=f"{MANY:,} worlds {where}, fresh; each with a token and a change",
        ours=f"{fresh:.1f} MB; {touched:.1f} MB",
        theirs=f"{MOST_MB:.0f} MB",
        ratio=max(fresh, touched) / MOST_MB,
        bar=1,
        at_most=True,
        part=PART,
    )


def _clock() -> Any:
    return {"mode": "frozen"}


def _use(control: ControlClient, name: str, ephemeral: bool) -> None:
    control.create_world(name, clock=_clock(), ephemeral=ephemeral)
    _touch(control, name)


def _touch(control: ControlClient, name: str) -> None:
    control.world(name).mint_token()
    control.world(name).clock.move(by="1h")
