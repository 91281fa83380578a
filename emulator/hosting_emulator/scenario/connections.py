"""Simulates the connections used by a story's requests, without opening real ones.

Requests whose steps name the same connection share one simulated connection. The first such request
opens the connection, and a fault that causes a response to be lost closes it. If a step does not
name a connection, its request has none.
"""

from __future__ import annotations

from hosting_emulator.engine.connection import Connection
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.faults.kinds import FaultKind


class StoryConnections:
    """The simulated connections that are open in a story, by name."""

    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}

    def assign(self, context: ExchangeContext, name: str | None) -> None:
        """Assign a request to the connection with this name. Do nothing if `name` is None."""
        if name is None:
            return
        connection = self._connections.get(name)
        context.is_connection_reused = connection is not None
        if connection is None:
            connection = Connection()
            self._connections[name] = connection
        context.connection = connection

    def note_response(self, name: str | None, effect: FaultKind | None, *, gave_up: bool) -> None:
        """Close the connection with this name if the response was lost or the client gave up."""
        if name is None:
            return
        is_lost = effect is not None and not effect.delivers_response
        if is_lost or gave_up:
            self._connections.pop(name, None)
