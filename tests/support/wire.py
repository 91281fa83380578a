"""A raw socket client, for requests that no normal HTTP client can send.

`wire` opens a connection. `exchange_raw` sends one request with exactly the given headers.
`read_responses` parses everything that a server has sent on a connection.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from urllib.parse import urlsplit

from multidict import CIMultiDict

from tests.support.calls import Response

_PATIENCE_S = 10.0
Headers = Iterable[tuple[str, str]]


class _ReceivedBytes(io.BufferedReader):
    """The bytes that a server sends on a connection. Bytes after a response belong to the next response."""

    def makefile(self, mode: str) -> _ReceivedBytes:
        """Return this object, because `HTTPResponse` calls this method of a socket."""
        return self

    def close(self) -> None:
        """Do nothing, because `HTTPResponse` calls this after each response."""


class Wire:
    """A connection to the server of a base URL."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        assert parts.hostname
        assert parts.port
        self.host = parts.netloc
        self.prefix = parts.path
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=_PATIENCE_S)
        self._received = _ReceivedBytes(socket.SocketIO(self.socket, "r"))

    def send(self, data: bytes) -> None:
        """Send bytes unchanged."""
        self.socket.sendall(data)

    def send_request(
        self,
        method: str,
        path: str,
        headers: Headers = (),
        body: bytes = b"",
        *,
        length: int | None = None,
    ) -> None:
        """Send a request. `headers` may contain a name several times.

        `length` is the value of Content-Length, which may be wrong. If `length` is -1,
        Content-Length is left out.
        """
        lines = [f"{method} {self.prefix}{path} HTTP/1.1", f"Host: {self.host}"]
        lines += [f"{name}: {value}" for name, value in headers]
        if length != -1 and (body or length is not None):
            lines.append(f"Content-Length: {len(body) if length is None else length}")
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    def read_response(self, method: str = "GET") -> Response:
        """Read one complete response."""
        received = HTTPResponse(self._received, method=method)  # type: ignore[arg-type]
        received.begin()
        return Response(received.status, received.headers, received.read())

    def is_closed_by_server(self) -> bool:
        """Wait for a byte, and return whether the server closed the connection instead."""
        return self._received.read(1) == b""


@contextmanager
def wire(base_url: str) -> Iterator[Wire]:
    """Open a connection, and close it at the end of a block."""
    connection = Wire(base_url)
    try:
        yield connection
    finally:
        connection.socket.close()


def exchange_raw(
    base_url: str,
    method: str,
    target: str,
    headers: Headers = (),
    body: str = "",
    version: str = "1.1",
) -> Response:
    """Send a request on a new connection. Only Content-Length and Connection are added to `headers`."""
    lines = [f"{method} {target} HTTP/{version}"]
    lines += [f"{name}: {value}" for name, value in headers]
    lines += [f"Content-Length: {len(body)}", "Connection: close"]
    with wire(base_url) as connection:
        connection.send(("\r\n".join(lines) + "\r\n\r\n" + body).encode("latin-1"))
        return connection.read_response(method)


def host_of(base_url: str) -> str:
    """Return the Host header that a browser sends to a base URL."""
    return urlsplit(base_url).netloc


def read_responses(data: bytes) -> list[Response]:
    """Parse all responses that a server sent on a connection. Fails if a response is incomplete."""
    responses = []
    while data:
        head, end, data = data.partition(b"\r\n\r\n")
        assert end, f"an incomplete response: {head!r}"
        first, *lines = head.split(b"\r\n")
        version, status, _ = first.split(b" ", 2)
        assert version in (b"HTTP/1.1", b"HTTP/1.0"), first
        if int(status) == 100:
            continue
        headers = CIMultiDict[str]()
        for line in lines:
            name, _, value = line.decode("latin-1").partition(": ")
            headers.add(name, value)
        lengths = [int(length) for length in headers.getall("Content-Length", [])]
        assert len(lengths) <= 1, head
        length = lengths[0] if lengths else 0
        assert len(data) >= length, f"an incomplete body: {head!r}"
        responses.append(Response(int(status), headers, data[:length]))
        data = data[length:]
    return responses


def read_statuses(data: bytes) -> list[int]:
    """Return the status of each response that a server sent on a connection."""
    return [response.status for response in read_responses(data)]
