"""A client in this process, and what the watch says of it."""

from __future__ import annotations

from typing import Any

from multidict import CIMultiDict

from hosting_emulator.conduct.world_watch import watch_of
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import Delay, run_through
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.history import SavedState
from hosting_emulator.messages import ConductFinding, ConductReport
from tests.support.calls import Response
from tests.support.in_process import InProcess, Machine, fresh_world

SECOND_MS = 1000


class Watched(InProcess):
    """The calls of one world, with time and faults in the test's hands, under watch from the start."""

    def __init__(self, mode: str = "frozen", rate: float | None = None, **assumptions: Any) -> None:
        machine = Machine()
        world = fresh_world(mode=mode, rate=rate, machine=machine, **assumptions)
        super().__init__(world, machine=machine)
        watch_of(self.engine)

    # --- What happens to it ---------------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        """Let real time pass; a frozen world's stands still."""
        self.machine.at_ms += round(seconds * SECOND_MS)

    def fault(self, **fault: Any) -> None:
        """Arm a fault, once unless told otherwise."""
        self.add_fault(**{"times": 1, **fault})

    def lose(self, **fault: Any) -> None:
        """Lose the next answer; what was asked is done."""
        self.fault(connection_reset={}, phase="after_commit", **fault)

    def turn_back(self) -> SavedState:
        """Keep the world as it is, to be put back."""
        return SavedState(self.world, self.engine.now_ms())

    def next_connection(self) -> None:
        """End the connection, and go on by a new one, as who opens one for each request."""
        if self.connection in self.opened:
            self.close(self.opened[self.connection])
        self.connection += 1

    def send_late(self, delay_ms: int, method: str, path: str, **options: Any) -> Response:
        """Send a request that a fault holds up for so long, in real time, before it is done."""
        sent = [("Authorization", f"Bearer {self.token()}")]
        if "key" in options:
            sent.append(("Idempotency-Key", options["key"]))
        self.fault(latency={"delay_ms": delay_ms})
        context = self._context(method, path, sent)
        self.arrive(context)
        exchange = run_exchange(self.engine, context)
        assert exchange.send(None) == Delay(delay_ms)
        between = options.get("between")
        if between is not None:
            between()
        self.machine.at_ms += delay_ms
        reply = run_through(exchange)
        self.depart(context)
        return Response(reply.status, CIMultiDict(reply.headers), reply.body)

    def _context(self, method: str, path: str, sent: list[tuple[str, str]]) -> ExchangeContext:
        return ExchangeContext(
            method=method,
            path=path,
            query="",
            docs_url=lambda: "http://docs",
            headers=CIMultiDict(sent),
            raw_headers=[(k.encode(), v.encode()) for k, v in sent],
        )

    # --- What is said of it ---------------------------------------------------------------------

    def look(self, *, final: bool = False) -> ConductReport:
        return watch_of(self.engine).look(final=final)

    def findings(self, *, final: bool = False) -> list[ConductFinding]:
        return self.look(final=final).findings

    def broken(self, *, final: bool = False) -> list[tuple[str, list[int]]]:
        """Return which rules were broken by which requests."""
        return [(finding.rule, finding.requests) for finding in self.findings(final=final)]

    def operation(self) -> str:
        """Begin an operation and return its id."""
        return str(self.apply_domains().json["id"])
