"""The throughput and latency of each call, compared with a bare aiohttp handler for the same bytes.

The emulator and the bare handler take turns in each round, so a slow phase of the machine affects
both. The world is reset before each turn, so every turn begins with the same state.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.asked import answer, requests
from benchmarks.load import Load, Request, load
from benchmarks.report import Figure
from benchmarks.servers import bare, cores, emulator, port_of
from hosting_emulator.sdk import ControlClient

PART = "calls"
#: The limits, as shares of the bare handler's throughput.
READ_BAR, WRITE_BAR = 0.6, 0.4
_ABOUT = {
    "list_deployments": "list_deployments (20 items)",
    "get_operation": "get_operation (a finished one)",
}


class Contest:
    """Sends one call alternately to the emulator and to the bare handler."""

    def __init__(self, call: str, request: Request, port: int, bare_port: int) -> None:
        self.call = call
        self._request = request
        self._port = port
        self._bare_port = bare_port
        self._ours: list[Load] = []
        self._theirs: list[Load] = []

    def round(self, number: int, seconds: float, control: ControlClient) -> None:
        """Measure both servers once more. The server that goes first changes with each round."""
        request, core = self._request, cores()[1]
        if request.fresh is not None:
            request = replace(request, fresh=f"{request.fresh}{number}-")
        turns = [(self._theirs, self._bare_port), (self._ours, self._port)]
        for measured, port in turns if number % 2 else turns[::-1]:
            if port == self._port:
                control.world("default").reset()
            measured.append(load(port, [request], seconds, core))

    def figure(self) -> Figure:
        """Return the medians, and the median of the rounds' ratios."""
        pairs = zip(self._ours, self._theirs, strict=True)
        return Figure(
            what=_ABOUT.get(self.call, self.call),
            ours=_middle(self._ours),
            theirs=f"{_middle(self._theirs)}, bare",
            ratio=median(ours.rate / theirs.rate for ours, theirs in pairs),
            bar=READ_BAR if self._request.method == "GET" else WRITE_BAR,
            part=PART,
        )


def _middle(loads: list[Load]) -> str:
    rate, p50, p99 = (
        median(values)
        for values in zip(*((one.rate, one.p50_ms, one.p99_ms) for one in loads), strict=True)
    )
    return f"{rate:,.0f}/s (p50 {p50:.2f}, p99 {p99:.2f} ms)"


def measure(rounds: int, seconds: float) -> list[Figure]:
    """Return a figure for each call."""
    core = cores()[0]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ready = stack.enter_context(emulator(Path(folder), core))
        contests = []
        for call, request in requests(ready):
            path = request.path.partition("?")[0]
            order = {"method": request.method, "path": path, **answer(ready, request)}
            bare_port = stack.enter_context(bare(order, core))
            contests.append(Contest(call, request, port_of(ready), bare_port))
        with ControlClient(ready["control_url"]) as control:
            for number in range(rounds):
                for contest in contests:
                    contest.round(number, seconds, control)
    return [contest.figure() for contest in contests]
