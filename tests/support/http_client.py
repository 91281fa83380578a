"""A small HTTP client for tests, with one kept-alive connection.

Use `HttpWorld` (support/http_world.py) for the calls of a world. Use `Wire` (support/wire.py) to
send bytes that no HTTP client sends.
"""

from __future__ import annotations

import json
import select
from collections.abc import Mapping
from http.client import HTTPConnection
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.support.calls import Response


class HttpClient:
    """A client of one server, with at most one open connection. This class is not thread-safe."""

    def __init__(self, url: str, *, timeout_s: float = 30.0) -> None:
        self.host = urlsplit(url).netloc
        self._connection = HTTPConnection(self.host, timeout=timeout_s)

    def send(
        self, method: str, target: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Send a request, and return its complete response. `body` is sent as JSON unless it is bytes.

        Raises OSError or HTTPException if no complete response arrives. The next request then opens
        a new connection.
        """
        request_headers = dict(headers or {})
        content = body
        if body is not None and not isinstance(body, bytes):
            content = json.dumps(body).encode()
            request_headers.setdefault("Content-Type", "application/json")
        try:
            self._connection.request(method, target, content, request_headers)
            received = self._connection.getresponse()
            return Response(received.status, received.headers, received.read())
        except BaseException:
            self.close()
            raise

    def close_if_server_closed(self) -> None:
        """Close an idle connection that the server has closed. The next request opens a new one."""
        socket = self._connection.sock
        if socket is not None and select.select([socket], [], [], 0)[0]:
            self.close()

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
