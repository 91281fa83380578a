"""The time that it takes to advance the clock by 90 days of world time with 10,000 operations.

All operations are accepted at the same time and wait for their project's claim, so every step of
every operation becomes due during the advance. Both operation profiles occur, and all operations
succeed.
"""

from __future__ import annotations

import http.client
import json
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import Figure
from benchmarks.servers import cores, emulator, port_of
from hosting_emulator.messages import NewWorldSummary
from hosting_emulator.sdk import ControlClient
from hosting_emulator.world.tables import OPERATIONS
from tests.support.in_process import InProcess, fresh_world

PART = "time"
COUNT = 10_000
DAYS = 90
MOST_S = 2.0
_DAY_MS = 86_400_000
_ASSUMED: dict[str, Any] = {"source_generation": "ignored"}
_SOURCE = {"expected_source_generation": 1}
_PROJECTS = ("shop", "blog")


def measure(rounds: int) -> list[Figure]:
    """Return two figures: one for the core without sockets, and one over the control API."""
    inside = [_in_process() for _ in range(rounds)]
    outside = [_over_http() for _ in range(rounds)]
    return [_figure("in process", inside), _figure("over the control API, kept on disk", outside)]


def _figure(where: str, took: list[tuple[float, float, int]]) -> Figure:
    accepted_s, moved_s, events = (median(values) for values in zip(*took, strict=True))
    return Figure(
        what=f"{DAYS} days with {COUNT:,} operations, {where}",
        ours=f"{moved_s:.2f} s for {events:,.0f} events",
        theirs=f"{MOST_S:g} s; before that, accepting them took {accepted_s:.1f} s",
        ratio=moved_s / MOST_S,
        bar=1,
        at_most=True,
        part=PART,
    )


def _in_process() -> tuple[float, float, int]:
    """Return the seconds for accepting operations and for advancing the clock, and the event count."""
    asked = InProcess(fresh_world(**_ASSUMED))
    began = time.perf_counter()
    for number in range(COUNT):
        project = _PROJECTS[number // 2 % 2]
        call = asked.initialize if number % 2 else asked.apply_domains
        assert call(project=project).status < 300
    accepted = time.perf_counter()
    events = asked.engine.move_by(DAYS * _DAY_MS)
    moved = time.perf_counter()
    states = {row.state for _, row in asked.world.rows(OPERATIONS)}
    assert states & {"queued", "running"} == set()
    return accepted - began, moved - accepted, events


def _over_http() -> tuple[float, float, int]:
    with (
        tempfile.TemporaryDirectory() as folder,
        emulator(Path(folder), cores()[0]) as ready,
        ControlClient(ready["control_url"]) as control,
    ):
        world = control.create_world("history", clock={"mode": "frozen"}, assumptions=_ASSUMED)
        token = control.world("history").mint_token().access_token
        began = time.perf_counter()
        _accept(ready, world, token)
        accepted = time.perf_counter()
        advanced = control.world("history").clock.move(by=f"{DAYS}d")
        moved = time.perf_counter()
        assert not control.get("worlds/history/operations?unfinished=true")["items"]
        return accepted - began, moved - accepted, advanced.events_run


def _accept(ready: dict[str, Any], world: NewWorldSummary, token: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(ready))
    ids = {project.alias: project.id for project in world.projects}
    projects = [ids[alias] for alias in _PROJECTS]
    for number in range(COUNT):
        path = f"/worlds/history/v1/projects/{projects[number // 2 % 2]}"
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"history-{number}"}
        if number % 2:
            headers["Content-Type"] = "application/json"
            connection.request("POST", f"{path}/source:initialize", json.dumps(_SOURCE), headers)
        else:
            connection.request("PUT", f"{path}/domains", headers=headers)
        response = connection.getresponse()
        response.read()
        assert response.status < 300
    connection.close()
