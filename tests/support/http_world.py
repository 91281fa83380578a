"""Sends the calls of a world to a running emulator over HTTP."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import chain
from typing import Any

from hosting_emulator.sdk import HostingEmulator
from tests.support.calls import Calls, Response, fault_document
from tests.support.http_client import HttpClient

#: Idle clients with open connections, by host. Connections are reused, because opening a connection takes
#: longer than a request.
_IDLE_CLIENTS: defaultdict[str, list[HttpClient]] = defaultdict(list)


def exchange(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> Response:
    """Send a request on an idle connection or a new one, and return the complete response."""
    host, _, target = url.removeprefix("http://").partition("/")
    idle = _IDLE_CLIENTS[host]
    client = idle.pop() if idle else HttpClient(url)
    client.close_if_server_closed()
    response = client.send(method, f"/{target}", body, headers)
    idle.append(client)
    return response


def close_idle_connections() -> None:
    """Close every idle connection of this process."""
    for client in chain.from_iterable(_IDLE_CLIENTS.values()):
        client.close()
    _IDLE_CLIENTS.clear()


class HttpWorld(Calls):
    """The calls of one world over HTTP. `emulator` is the SDK's handle of the world."""

    def __init__(self, emulator: HostingEmulator) -> None:
        self.emulator = emulator

    def call(  # type: ignore[override]
        self,
        method: str,
        path: str,
        *,
        user: str | None = "owner",
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Response:
        """Send a request as a user, with a JSON body or with exactly the bytes of `raw`."""
        request_headers = dict(headers or {})
        if token is not None:
            request_headers["Authorization"] = f"Bearer {token}"
        elif user is not None:
            request_headers |= self.emulator.headers(user)
        if key is not None:
            request_headers["Idempotency-Key"] = key
        content = raw
        if body is not None:
            content = json.dumps(body).encode()
            request_headers.setdefault("Content-Type", "application/json")
        return exchange(method, self.emulator.base_url + path, content, request_headers)

    def project_id(self, alias: str = "shop") -> str:
        return self.emulator.projects[alias]

    def organization_id(self, alias: str = "acme") -> str:
        return self.emulator.organizations[alias]

    def add_fault(self, **fault: Any) -> str:
        return str(self.emulator.arm(fault_document(fault)).id)

    def add_outcome(self, **outcome: Any) -> str:
        return str(self.emulator.add_outcome(fault_document(outcome)).id)

    def intervene(self, name: str, /, **fields: Any) -> str:
        return self.emulator.intervene(name, **fields)

    def advance(self, duration: str) -> None:
        self.emulator.clock.advance(duration)

    def set_assumptions(self, **values: Any) -> None:
        self.emulator.set_assumptions(values)
