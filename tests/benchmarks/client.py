"""A small load client for machines without wrk: raw sockets, one request at a time on each.

Run as a process of its own; prints its report in wrk's words. Knows just enough of HTTP to find the
end of an answer with a Content-Length.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time
from typing import Any


class Connection:
    """One socket: sends the next request as soon as the answer to the last is complete."""

    def __init__(self, port: int, request: dict[str, Any], number: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.refused = 0
        self.answered = 0
        self._received = b""
        self._fresh = request["fresh"]
        self._number = number
        self._head, self._tail = _message(request, port)

    def send(self) -> None:
        key = b""
        if self._fresh is not None:
            key = f"Idempotency-Key: {self._fresh}{self._number}-{self.answered}\r\n".encode()
        self.socket.sendall(self._head + key + self._tail)

    def receive(self) -> bool:
        """Read what has come; tell whether the answer is complete."""
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("the server closed the connection")
        self._received += chunk
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or len(body) < _content_length(head):
            return False
        self.refused += head[9:10] not in b"23"
        self.answered += 1
        self._received = b""
        return True


def _message(request: dict[str, Any], port: int) -> tuple[bytes, bytes]:
    body = (request["body"] or "").encode()
    lines = [f"{request['method']} {request['path']} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in request["headers"].items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "".join(f"{line}\r\n" for line in lines).encode(), b"\r\n" + body


def _content_length(head: bytes) -> int:
    _, _, rest = head.lower().partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0] or 0)


def main() -> None:
    order, request = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    connections = [Connection(order["port"], request, n) for n in range(order["connections"])]
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send()
        began = time.perf_counter()
        end = began + order["seconds"]
        while time.perf_counter() < end:
            for key, _ in selector.select(1):
                if key.data.receive():
                    key.data.send()
        passed = time.perf_counter() - began
    refused = sum(connection.refused for connection in connections)
    if refused:
        print(f"Non-2xx or 3xx responses: {refused}")
    print(f"Requests/sec: {sum(c.answered for c in connections) / passed:.2f}")


if __name__ == "__main__":
    main()
