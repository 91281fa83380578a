"""The one raw socket client: bytes to a server and back, for requests that no usual client can make.

`wire` opens a connection. `exchange_raw` sends one request with exactly the given headers, as
browsers, proxies and attackers do. `read_responses` parses all that a server sent on a connection.
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
    """All that a server sends on a connection. What follows a response is kept for the next."""

    def makefile(self, mode: str) -> _ReceivedBytes:
        """Stand for the socket, as `HTTPResponse` expects one."""
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
        self._received = _ReceivedBytes(socket.SocketIO(self.socket, "r"))

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
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
        """Send a request; `headers` may repeat, `length` may be false, and -1 leaves it out."""
        lines = [f"{method} {self.prefix}{path} HTTP/1.1", f"Host: {self.host}"]
        lines += [f"{name}: {value}" for name, value in headers]
        if length != -1 and (body or length is not None):
            lines.append(f"Content-Length: {len(body) if length is None else length}")
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    def read_response(self, method: str = "GET") -> Response:
        """Read one response to its end."""
        received = HTTPResponse(self._received, method=method)  # type: ignore[arg-type]
        received.begin()
        return Response(received.status, received.headers, received.read())

    def is_closed_by_server(self) -> bool:
        """Wait for the server's next byte, and return whether there is none."""
        return self._received.read(1) == b""


@contextmanager
def wire(base_url: str) -> Iterator[Wire]:
    """Open a connection, and close it at the end."""
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
    """Parse all that a server sent on a connection. Fails if it is not complete HTTP."""
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
