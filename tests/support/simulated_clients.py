"""Simulates programs whose workers send requests concurrently, in one thread and in simulated time.

A worker is a generator that yields requests and pauses. For each `Request`, the worker receives a
`Response`. The workers of a program share a pool of connections, or open a new connection for each
request.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeAlias

from multidict import CIMultiDict

from hosting_emulator.engine.connection import Connection, Passage
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import Delay
from hosting_emulator.engine.exchange import ExchangeContext
from tests.support.calls import Response
from tests.support.judged_world import JudgedWorld

#: How long a response takes to reach its client, in milliseconds of the machine's clock.
_TRIP_MS = 2


@dataclass
class Request:
    """A request that a worker sends.

    If no response arrives within `timeout_ms`, the connection is closed.
    """

    method: str
    path: str
    key: str | None = None
    body: Any = None
    token: str | None = None
    timeout_ms: int | None = None


@dataclass
class Sleep:
    """A pause during which a worker sends no request."""

    seconds: float


#: The value that a worker receives after a pause, and if no response arrived.
NO_RESPONSE = Response(0, {})


Worker: TypeAlias = Generator[Request | Sleep, Response, None]


class _Program:
    """The state that the workers of one program share, such as their idle connections."""

    def __init__(self, pooled: bool) -> None:
        self.pooled = pooled
        self.idle: list[Connection] = []


class Simulation(JudgedWorld):
    """A world whose clients are generators. Time jumps from each event to the next."""

    def __init__(self, **assumptions: Any) -> None:
        super().__init__("real", **assumptions)
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()

    def start(self, *workers: Worker, pooled: bool = True, after_ms: int = 0) -> None:
        """Start the workers of one program, one millisecond after another."""
        program = _Program(pooled)
        for number, worker in enumerate(workers):
            self._schedule(after_ms + number, partial(self._resume, program, worker, None))

    def run(self) -> None:
        """Process events until all workers have ended."""
        while self._events:
            self.machine.at_ms, _, callback = heapq.heappop(self._events)
            callback()

    def _schedule(self, after_ms: int, callback: Callable[[], None]) -> None:
        """Call `callback` after `after_ms` of simulated time."""
        event = (self.machine.at_ms + after_ms, next(self._order), callback)
        heapq.heappush(self._events, event)

    def _resume(self, program: _Program, worker: Worker, response: Response | None) -> None:
        """Let a worker continue with the response to its last request."""
        try:
            step = next(worker) if response is None else worker.send(response)
        except StopIteration:
            return
        if isinstance(step, Sleep):
            pause_ms = round(step.seconds * 1000)
            self._schedule(pause_ms, lambda: self._resume(program, worker, NO_RESPONSE))
        else:
            _Attempt(self, program, worker, step).begin()

    def connect(self, program: _Program) -> Connection:
        if program.idle:
            return program.idle.pop()
        return Connection(next(self._positions))


class _Attempt:
    """One request that a worker has sent."""

    def __init__(
        self, simulation: Simulation, program: _Program, worker: Worker, request: Request
    ) -> None:
        self._simulation = simulation
        self._program = program
        self._worker = worker
        self._request = request
        self._is_over = False
        self._is_reused = bool(program.idle)
        self._connection = simulation.connect(program)

    def begin(self) -> None:
        """Send the request."""
        api = self._simulation
        request = self._request
        headers = [("Authorization", f"Bearer {request.token or api.token()}")]
        if request.key is not None:
            headers.append(("Idempotency-Key", request.key))
        body = b""
        if request.body is not None:
            headers.append(("Content-Type", "application/json"))
            body = json.dumps(request.body).encode()
        path, _, query = request.path.partition("?")
        self._context = ExchangeContext(
            method=request.method,
            path=path,
            query=query,
            docs_url=lambda: "http://docs",
            headers=CIMultiDict(headers),
            raw_headers=[(name.encode(), value.encode()) for name, value in headers],
            body=body,
            connection=self._connection,
            is_connection_reused=self._is_reused,
            passage=Passage(self._connection, next(api._positions)),
        )
        self._exchange = run_exchange(api.engine, self._context)
        if request.timeout_ms is not None:
            api._schedule(request.timeout_ms, self._give_up)
        self._proceed()

    def _proceed(self) -> None:
        api = self._simulation
        try:
            effect = self._exchange.send(None)
        except StopIteration as done:
            reply = done.value
            late_ms = self._context.delivered.late_ms - self._waited_ms()
            api._schedule(max(0, late_ms), lambda: self._depart(reply))
            return
        api._schedule(effect.ms if isinstance(effect, Delay) else 0, self._proceed)

    def _waited_ms(self) -> int:
        return self._simulation.machine.at_ms - self._context.delivered.real_ms

    def _depart(self, reply: Any) -> None:
        if self._is_over:
            return
        assert self._context.passage is not None
        response = Response(reply.status, CIMultiDict(reply.headers), reply.body)
        lost = self._context.delivered.lost
        if lost is None:
            self._context.passage.departure = next(self._simulation._positions)
            self._simulation._schedule(_TRIP_MS, lambda: self._receive(response))
        elif lost != "timeout":
            self._give_up()

    def _receive(self, response: Response) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._program.pooled:
            self._program.idle.append(self._connection)
        else:
            self._simulation.close(self._connection)
        self._simulation._resume(self._program, self._worker, response)

    def _give_up(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._simulation.close(self._connection)
        self._simulation._schedule(
            _TRIP_MS, lambda: self._simulation._resume(self._program, self._worker, NO_RESPONSE)
        )
