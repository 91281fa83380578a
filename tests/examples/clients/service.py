"""One request and its response, as these clients send it. This module never retries.

With HOSTING_WAIT=clock and the HOSTING_CONTROL_URL of an emulator, waiting advances the clock of the
world instead of sleeping: a run is quick, and the world sees that the client waited.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: How long a complete response may take, in seconds.
TIMEOUT_S = 2.0

Json = dict[str, Any]


class Lost(Exception):
    """No complete response arrived: it is unknown whether the request took effect."""


@dataclass(frozen=True)
class Response:
    """A complete response; `body` is empty if it was no JSON object."""

    status: int
    headers: Mapping[str, str]
    body: Json


class Service:
    """The service at an address, with a token."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._base_url = environment["HOSTING_BASE_URL"]
        self._token = environment["HOSTING_TOKEN"]
        self._clock_url: str | None = None
        if environment.get("HOSTING_WAIT") == "clock" and "HOSTING_CONTROL_URL" in environment:
            world = environment.get("HOSTING_EMULATOR_WORLD", "default")
            self._clock_url = f"{environment['HOSTING_CONTROL_URL']}/worlds/{world}/clock/advance"
        self.project = f"/v1/projects/{environment['HOSTING_PROJECT_ID']}"
        self.organization = f"/v1/organizations/{environment['HOSTING_ORGANIZATION_ID']}"
        self.generation = int(environment.get("HOSTING_SOURCE_GENERATION", "1"))

    def send(self, method: str, path: str, body: Json | None = None, key: str = "") -> Response:
        """Send one request, with its Idempotency-Key if it has one. Raises Lost."""
        headers = {"Authorization": f"Bearer {self._token}"}
        if key:
            headers["Idempotency-Key"] = key
        return _exchange(method, self._base_url + path, headers, body)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        if self._clock_url is None:
            time.sleep(seconds)
        else:
            _exchange("POST", self._clock_url, {}, {"by": f"{round(seconds * 1000)}ms"})


def _exchange(method: str, url: str, headers: dict[str, str], body: Json | None) -> Response:
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data, headers, method=method)
    until = time.monotonic() + TIMEOUT_S
    try:
        try:
            response = urllib.request.urlopen(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:  # an error response is a response too
            response = error
        with response:
            content = _read(response, until)
    except (OSError, http.client.HTTPException) as error:
        raise Lost(f"no complete response: {error}") from error
    return Response(response.status, response.headers, _document(response.status, content))


def _read(response: Any, until: float) -> bytes:
    """Read a response to its end within the time limit."""
    content = b""
    while True:
        part = response.read1(65536)
        if not part:
            break
        content += part
        if time.monotonic() > until:
            raise TimeoutError("it came too slowly")
    if len(content) < int(response.headers.get("Content-Length") or 0):
        raise ConnectionError("it was cut off")
    return content


def _document(status: int, content: bytes) -> Json:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if isinstance(document, dict):
        return document
    if status < 400:
        raise Lost("the response is no JSON object")
    return {}  # a gateway on the way responded
