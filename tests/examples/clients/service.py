"""One request and its answer, as the clients here send it. It decides nothing: it never retries.

HOSTING_WAIT=clock, with an emulator's HOSTING_CONTROL_URL, moves the world's time instead of
sleeping: a run is quick then, and the world sees that the client waited.
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

#: How long a whole answer may take, in seconds.
TIMEOUT_S = 2.0

Json = dict[str, Any]


class Lost(Exception):
    """No whole answer came: nobody knows whether the request took effect."""


@dataclass(frozen=True)
class Answer:
    """An answer that came whole; `body` is empty where it was no JSON object."""

    status: int
    headers: Mapping[str, str]
    body: Json


class Service:
    """The service, as its address and a token."""

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

    def send(self, method: str, path: str, body: Json | None = None, key: str = "") -> Answer:
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


def _exchange(method: str, url: str, headers: dict[str, str], body: Json | None) -> Answer:
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data, headers, method=method)
    until = time.monotonic() + TIMEOUT_S
    try:
        try:
            found = urllib.request.urlopen(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:  # an answer too
            found = error
        with found:
            read = _read(found, until)
    except (OSError, http.client.HTTPException) as error:
        raise Lost(f"no complete response: {error}") from error
    return Answer(found.status, found.headers, _document(found.status, read))


def _read(found: Any, until: float) -> bytes:
    """Read an answer to its end, within the time that a whole answer may take."""
    read = b""
    while part := found.read1(65536):
        read += part
        if time.monotonic() > until:
            raise TimeoutError("it came too slowly")
    if len(read) < int(found.headers.get("Content-Length") or 0):
        raise ConnectionError("it was cut off")
    return read


def _document(status: int, read: bytes) -> Json:
    try:
        document = json.loads(read)
    except ValueError:
        document = None
    if isinstance(document, dict):
        return document
    if status < 400:
        raise Lost("the answer is no JSON object")
    return {}  # something on the way answered, such as a gateway
