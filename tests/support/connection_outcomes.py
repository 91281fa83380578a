"""Sends requests on raw sockets, and reports how each request ended for the client."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from http.client import HTTPResponse, IncompleteRead, RemoteDisconnected

from tests.support.calls import Response
from tests.support.http_world import HttpWorld
from tests.support.wire import Wire, wire

#: How long a client waits for the first byte, in seconds, if a fault holds the response back.
SILENCE_S = 0.1
#: How long a client waits for the first byte, in seconds, if no fault holds the response back.
PATIENCE_S = 10


@dataclass(frozen=True)
class ConnectionOutcome:
    """How one request ended at the client's socket.

    `kind` is `answered`, `reset`, `empty` (closed without a byte), `silent`, `cut` (closed before
    the end of the body) or `torn` (reset before the end of the body).
    """

    kind: str
    took_s: float
    received: Response | None = None

    @property
    def response(self) -> Response:
        """The response, whose body may be incomplete. Fails if no response started."""
        assert self.received is not None, f"there is no response: {self.kind}"
        return self.received


class SocketClient:
    """Sends calls to a world on raw sockets, as the user `owner`."""

    def __init__(self, api: HttpWorld) -> None:
        self.api = api
        self._token = api.emulator.token()

    def set_flag(
        self, enabled: bool = False, key: str = "k", project: str = "shop"
    ) -> ConnectionOutcome:
        """Set the powered-by flag (call 1) on a new connection."""
        body = json.dumps({"enabled": enabled}).encode()
        return self.send("PUT", self.api.project_path("powered-by-flag", project), key, body)

    def deployments(self) -> ConnectionOutcome:
        """List the deployments (call 6) on a new connection."""
        return self.send("GET", self.api.project_path("deployments"))

    def send(
        self, method: str, path: str, key: str | None = None, body: bytes = b""
    ) -> ConnectionOutcome:
        """Send one request on a new connection, and return how the request ended."""
        with wire(self.api.emulator.base_url) as connection:
            return self.send_on(connection, method, path, key, body)

    def send_on(
        self, connection: Wire, method: str, path: str, key: str | None = None, body: bytes = b""
    ) -> ConnectionOutcome:
        """Send one request on an open connection, which is not closed afterwards."""
        headers = [("Authorization", f"Bearer {self._token}")]
        if key is not None:
            headers.append(("Idempotency-Key", key))
        if body:
            headers.append(("Content-Type", "application/json"))
        patience_s = SILENCE_S if self._is_held_back() else PATIENCE_S
        began = time.monotonic()
        connection.send_request(method, path, headers, body)
        return read_outcome(connection.socket, method, began, patience_s)

    def _is_held_back(self) -> bool:
        """Return whether an armed fault holds responses back for at least one second."""
        world = self.api.emulator
        return any(
            not fault["spent"]
            and ("timeout" in fault or fault.get("latency", {}).get("delay_ms", 0) >= 1_000)
            for fault in world.control.get(f"worlds/{world.name}/faults")["items"]
        )


def read_outcome(
    connection: socket.socket, method: str, began: float, patience_s: float
) -> ConnectionOutcome:
    """Read one response, and return how the request ended."""

    def outcome(
        kind: str, response: HTTPResponse | None = None, body: bytes = b""
    ) -> ConnectionOutcome:
        took_s = time.monotonic() - began
        if response is None:
            return ConnectionOutcome(kind, took_s)
        return ConnectionOutcome(kind, took_s, Response(response.status, response.headers, body))

    connection.settimeout(patience_s)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return outcome("silent")
    except ConnectionResetError:
        return outcome("reset")
    connection.settimeout(PATIENCE_S)
    response = HTTPResponse(connection, method=method)
    try:
        response.begin()
    except RemoteDisconnected:
        return outcome("empty")
    try:
        return outcome("answered", response, response.read())
    except IncompleteRead as cut:
        return outcome("cut", response, cut.partial)
    except ConnectionResetError:
        return outcome("torn", response)
