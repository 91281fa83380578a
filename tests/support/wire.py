"""Raw bytes to a server and back, for requests that no well-behaved client can make."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from urllib.parse import urlsplit

from tests.support.calls import Response

_PATIENCE_S = 10.0


class _Answers(io.BufferedReader):
    """All that a server sends over one connection: what follows an answer is kept for the next."""

    def makefile(self, mode: str) -> _Answers:
        """Stand for the socket, as `HTTPResponse` wants one."""
        return self

    def close(self) -> None:
        """Stay open: `HTTPResponse` closes what it read to its end."""


class Wire:
    """One connection to the server of a base URL."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        assert parts.hostname
        assert parts.port
        self.host = parts.netloc
        self.prefix = parts.path
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=_PATIENCE_S)
        self._answers = _Answers(socket.SocketIO(self.socket, "r"))

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)

    def ask(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        *,
        length: int | None = None,
    ) -> None:
        """Send a request; `headers` may repeat, `length` may lie, and -1 leaves it out."""
        lines = [f"{method} {self.prefix}{path} HTTP/1.1", f"Host: {self.host}"]
        lines += [f"{name}: {value}" for name, value in headers]
        if length != -1 and (body or length is not None):
            lines.append(f"Content-Length: {len(body) if length is None else length}")
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    def answer(self, method: str = "GET") -> Response:
        """Read one answer to its end."""
        found = HTTPResponse(self._answers, method=method)  # type: ignore[arg-type]
        found.begin()
        return Response(found.status, found.headers, found.read())

    def closed(self) -> bool:
        """Wait for the server's next byte, and tell whether it has none."""
        return self._answers.read(1) == b""


@contextmanager
def wire(base_url: str) -> Iterator[Wire]:
    """Open a connection, and close it at the end."""
    found = Wire(base_url)
    try:
        yield found
    finally:
        found.socket.close()
