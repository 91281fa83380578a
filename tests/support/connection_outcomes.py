"""What a client sees of one request at its socket, whatever becomes of the answer."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPMessage, HTTPResponse, IncompleteRead, RemoteDisconnected
from typing import Any

from tests.support.http_world import HttpWorld
from tests.support.wire import Wire, wire

#: How long no byte must come before an answer counts as one that never comes: where a fault holds it
#: back, and where none does and only the machine is busy.
SILENCE_S, LONG_S = 0.1, 10


@dataclass(frozen=True)
class Seen:
    """`kind`: answered, reset, empty, silent, cut (less of the body than announced) or torn (reset)."""

    kind: str
    took_s: float
    status: int = 0
    headers: HTTPMessage | Mapping[str, str] | None = None
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        assert self.headers is not None
        return self.headers.get(name)


class Client:
    """Sends the calls of a world on sockets of its own, as their owner."""

    def __init__(self, api: HttpWorld) -> None:
        self.api = api
        self._token = api.emulator.token()

    def flag(self, enabled: bool = False, key: str = "k", project: str = "shop") -> Seen:
        """Call 1, on a connection of its own."""
        body = json.dumps({"enabled": enabled}).encode()
        return self.see("PUT", self.api.project_path("powered-by-flag", project), key, body)

    def deployments(self) -> Seen:
        """Call 6, on a connection of its own."""
        return self.see("GET", self.api.project_path("deployments"))

    def see(self, method: str, path: str, key: str | None = None, body: bytes = b"") -> Seen:
        """Send one request, and look at what comes until the connection is done with it."""
        with wire(self.api.emulator.base_url) as connection:
            return self.see_on(connection, method, path, key, body)

    def see_on(
        self, connection: Wire, method: str, path: str, key: str | None = None, body: bytes = b""
    ) -> Seen:
        """Send one request on a connection that stays open."""
        headers = [("Authorization", f"Bearer {self._token}")]
        if key is not None:
            headers.append(("Idempotency-Key", key))
        if body:
            headers.append(("Content-Type", "application/json"))
        patience_s = SILENCE_S if self._held_back() else LONG_S
        began = time.monotonic()
        connection.ask(method, path, headers, body)
        return look(connection.socket, method, began, patience_s)

    def _held_back(self) -> bool:
        world = self.api.emulator
        return any(
            not fault["spent"]
            and ("timeout" in fault or fault.get("latency", {}).get("delay_ms", 0) >= 1_000)
            for fault in world.control.get(f"worlds/{world.name}/faults")["items"]
        )


def look(connection: socket.socket, method: str, began: float, patience_s: float) -> Seen:
    """Read one answer, or see what comes instead."""

    def seen(kind: str, response: HTTPResponse | None = None, body: bytes = b"") -> Seen:
        took_s = time.monotonic() - began
        if response is None:
            return Seen(kind, took_s)
        return Seen(kind, took_s, response.status, response.headers, body)

    connection.settimeout(patience_s)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return seen("silent")
    except ConnectionResetError:
        return seen("reset")
    connection.settimeout(LONG_S)
    response = HTTPResponse(connection, method=method)
    try:
        response.begin()
    except RemoteDisconnected:
        return seen("empty")
    try:
        return seen("answered", response, response.read())
    except IncompleteRead as cut:
        return seen("cut", response, cut.partial)
    except ConnectionResetError:
        return seen("torn", response)
