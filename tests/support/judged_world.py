"""One world in this process, whose requests the rules of conduct judge."""

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


class JudgedWorld(InProcess):
    """The calls of one world, judged from its first request. The test controls time and faults."""

    def __init__(self, mode: str = "frozen", rate: float | None = None, **assumptions: Any) -> None:
        machine = Machine()
        world = fresh_world(mode=mode, rate=rate, machine=machine, **assumptions)
        super().__init__(world, machine=machine)
        watch_of(self.engine)

    # --- What happens to the client ---------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        """Let real time pass. The time of a frozen world does not move."""
        self.machine.at_ms += round(seconds * SECOND_MS)

    def fault(self, **fault: Any) -> None:
        """Arm a fault that acts once, unless `times` is given."""
        self.add_fault(**{"times": 1, **fault})

    def lose_response(self, **fault: Any) -> None:
        """Lose the response to the next request, which still takes effect."""
        self.fault(connection_reset={}, after_commit=True, **fault)

    def save_state(self) -> SavedState:
        """Return the current state of the world, so that the test can restore it."""
        return SavedState(self.world, self.engine.now_ms())

    def change_connection(self) -> None:
        """Close the current connection, and use a new connection for later requests."""
        if self.connection in self.opened:
            self.close(self.opened[self.connection])
        self.connection += 1

    def send_delayed(self, delay_ms: int, method: str, path: str, **options: Any) -> Response:
        """Send a request that a fault delays by `delay_ms` of real time before it takes effect.

        With `after_commit`, the request takes effect at once, and its response is delayed. If
        `between` is given, this function is called during the delay.
        """
        headers = [("Authorization", f"Bearer {self.token()}")]
        if "key" in options:
            headers.append(("Idempotency-Key", options["key"]))
        after_commit = options.get("after_commit", False)
        self.fault(latency={"delay_ms": delay_ms}, after_commit=after_commit)
        context = self._context(method, path, headers)
        self.arrive(context)
        exchange = run_exchange(self.engine, context)
        assert exchange.send(None) == Delay(delay_ms, is_done=after_commit)
        between = options.get("between")
        if between is not None:
            between()
        self.machine.at_ms += delay_ms
        reply = run_through(exchange)
        self.depart(context)
        return Response(reply.status, CIMultiDict(reply.headers), reply.body)

    def send_from_emulator(self, method: str, path: str) -> None:
        """Send a request as the emulator's own pages and tools do."""
        context = self._context(method, path, [("Authorization", f"Bearer {self.token()}")])
        context.from_emulator = True
        run_through(run_exchange(self.engine, context))

    def _context(self, method: str, path: str, headers: list[tuple[str, str]]) -> ExchangeContext:
        path, _, query = path.partition("?")
        return ExchangeContext(
            method=method,
            path=path,
            query=query,
            docs_url=lambda: "http://docs",
            headers=CIMultiDict(headers),
            raw_headers=[(name.encode(), value.encode()) for name, value in headers],
        )

    # --- How the rules judge the client -----------------------------------------------------------

    def conduct_report(self, *, final: bool = False) -> ConductReport:
        """Return the report. Raises AssertionError if a judge failed, because it then proves nothing."""
        report = watch_of(self.engine).look(final=final)
        assert report.errors == []
        return report

    def findings(self, *, final: bool = False) -> list[ConductFinding]:
        return self.conduct_report(final=final).findings

    def broken_rules(self, *, final: bool = False) -> list[tuple[str, list[int]]]:
        """Return the id of the broken rule, and the numbers of the requests, of each finding."""
        return [(finding.rule, finding.requests) for finding in self.findings(final=final)]

    def start_operation(self) -> str:
        """Start an operation, and return its id."""
        return str(self.apply_domains().json["id"])
