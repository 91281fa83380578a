"""Lets tests change and observe the inside of a server that runs in their own event loop.

Clients cannot observe these internals: long time limits, buffers, and how often something is
computed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from hosting_emulator.control import event_stream, har, scenario_worlds, world_states
from hosting_emulator.engine.explanations.trail import Explanations
from hosting_emulator.http import crowd, protocol, time_slices
from hosting_emulator.http.protocol import HttpProtocol
from hosting_emulator.http.time_slices import LongJob
from hosting_emulator.scenario.build import read_and_check
from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator.scenario.reading import Scenario
from hosting_emulator.storage.export import export_state
from hosting_emulator.world.value import World

#: The maximum number of requests on one connection that may wait for their responses.
MOST_UNANSWERED = protocol.MOST_UNANSWERED
#: The number of connections after whose end the server returns memory to the system.
CROWD = crowd.CROWD
#: The number of rows of a table that are processed before other requests get a turn.
ROWS_AT_ONCE = time_slices.ROWS_AT_ONCE


class ServerInternals:
    """The inside of the server. Every change is undone at the end of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._protocols: list[HttpProtocol] = []

    # --- Limits ---------------------------------------------------------------------------------

    def limit_incomplete_requests(self, seconds: float) -> None:
        """Set the maximum time in which a request must arrive completely."""
        self._monkeypatch.setattr(HttpProtocol, "request_timeout_s", seconds)

    def pass_time(self, limits: float) -> None:
        """Advance the running event loop's clock by this many time limits for incomplete requests."""
        loop = asyncio.get_running_loop()
        read_time = loop.time
        skipped_s = limits * HttpProtocol.request_timeout_s
        self._monkeypatch.setattr(loop, "time", lambda: read_time() + skipped_s)

    def stop_heartbeats(self) -> None:
        """Send no heartbeats on event streams."""
        self._monkeypatch.setattr(event_stream, "HEARTBEAT_S", 1_000)

    def yield_after_each_step(self) -> None:
        """Let long jobs give way to other requests after each step."""
        self._monkeypatch.setattr(time_slices, "SLICE_S", 0.0)

    def parse_one_request_at_once(self) -> None:
        """Let the parsing of each request exceed its time slice, as on a busy machine."""
        self._monkeypatch.setattr(protocol, "SLICE_S", 0.0)

    # --- Memory ---------------------------------------------------------------------------------

    def on_memory_return(self, notify: Callable[[], None]) -> None:
        """Call `notify` instead of returning memory to the system, and do not wait for a quiet period."""
        loop = asyncio.get_running_loop()

        def return_memory() -> None:
            # A server in another thread of this process may return memory as well.
            if asyncio.get_running_loop() is loop:
                notify()

        self._monkeypatch.setattr(crowd, "QUIET_S", 0)
        self._monkeypatch.setattr(crowd, "return_memory", return_memory)

    def return_memory_after(self, connections: int) -> None:
        """Set the number of successive connections after which memory is returned to the system."""
        self._monkeypatch.setattr(crowd, "SUCCESSIVE_CROWD", connections)

    # --- Connections ----------------------------------------------------------------------------

    def watch_connections(self) -> None:
        """Record the server's end of each connection that opens from now on."""
        protocols = self._protocols
        connection_made = HttpProtocol.connection_made

        def keep(connection: HttpProtocol, transport: asyncio.BaseTransport) -> None:
            protocols.append(connection)
            connection_made(connection, transport)

        self._monkeypatch.setattr(HttpProtocol, "connection_made", keep)

    def forget_connections(self) -> None:
        """Forget the recorded connections. Connections that open from now on are still recorded."""
        self._protocols.clear()

    def buffered_bytes(self) -> int:
        """Return how many bytes this process buffers because clients have not read them yet."""
        transports = [connection.transport for connection in self._protocols]
        return sum(transport.get_write_buffer_size() for transport in transports if transport)

    def unanswered_requests(self) -> int:
        """Return how many requests on the recorded connections have no response yet."""
        return sum(
            connection.framing.count - connection.response_count for connection in self._protocols
        )

    # --- Documents ------------------------------------------------------------------------------

    def replace_log_items(self, make_item: Callable[..., object]) -> None:
        """Let `make_item` create the items of the request log and of its HAR file."""
        self._monkeypatch.setattr(har, "har_entry", make_item)
        self._monkeypatch.setattr(Explanations, "item", make_item)

    def replace_library(self, on_read: Callable[[], None]) -> None:
        """Serve a library with one scenario, and call `on_read` whenever the scenario is read."""

        def read(text: str, file: str, machine_ms: int) -> Scenario:
            on_read()
            return read_and_check(text, file, machine_ms)

        self._monkeypatch.setattr(scenario_worlds, "read_and_check", read)
        self._monkeypatch.setattr(ScenarioLibrary, "names", lambda _: ["one"])
        text = "name: one\ndescription: One.\n"
        self._monkeypatch.setattr(ScenarioLibrary, "text", lambda *_: text)

    def on_export(self, notify: Callable[[], None]) -> None:
        """Call `notify` whenever a world is exported."""

        def export(world: World, *, with_seed: bool) -> dict[str, Any]:
            notify()
            return export_state(world, with_seed=with_seed)

        self._monkeypatch.setattr(world_states, "export_state", export)


def long_job() -> AbstractAsyncContextManager[object]:
    """Return a long job of the server, as a context manager. The job takes turns with requests."""
    return LongJob()


def return_memory_to_the_system() -> None:
    """Return unused memory of this process to the system, like the server."""
    crowd.return_memory()
