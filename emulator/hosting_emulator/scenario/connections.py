"""The connections of a story's requests. A step names its connection; nothing is opened.

Requests with the same name share one simulated connection. The first request opens it, and a fault
that loses a response ends it. A request without a name has no connection.
"""

from __future__ import annotations

from hosting_emulator.engine.connection import Connection
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.faults.kinds import FaultKind


class StoryConnections:
    """The open simulated connections of one story, by name."""

    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}

    def assign(self, context: ExchangeContext, name: str | None) -> None:
        """Assign a request to the connection with a name, or to no connection."""
        if name is None:
            return
        connection = self._connections.get(name)
        context.is_connection_reused = connection is not None
        if connection is None:
            connection = Connection()
            self._connections[name] = connection
        context.connection = connection

    def note_response(self, name: str | None, effect: FaultKind | None, *, gave_up: bool) -> None:
        """End the connection with a name if a fault lost its response, or if its client gave up."""
        if name is None:
            return
        is_lost = effect is not None and not effect.delivers_response
        if is_lost or gave_up:
            self._connections.pop(name, None)
