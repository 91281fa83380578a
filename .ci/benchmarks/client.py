"""A small load generator for machines without wrk. It sends one request at a time on each raw socket.

It runs in a separate process, and prints its report in wrk's format. It understands just enough HTTP
to find the end of a response with a Content-Length.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time
from typing import Any


class Connection:
    """A socket that sends the next request as soon as the previous response is complete."""

    def __init__(self, port: int, requests: list[dict[str, Any]], number: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.refused = 0
        self.latencies_s: list[float] = []
        self._received = b""
        self._number = number
        self._messages = [(request["fresh"], *_message(request, port)) for request in requests]
        self._sent_s = 0.0

    def send(self) -> None:
        count = len(self.latencies_s)
        fresh, head, tail = self._messages[count % len(self._messages)]
        key = b""
        if fresh is not None:
            key = f"Idempotency-Key: {fresh}{self._number}-{count}\r\n".encode()
        self._sent_s = time.perf_counter()
        self.socket.sendall(head + key + tail)

    def receive(self) -> bool:
        """Read the available bytes, and return whether the response is complete."""
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("the server closed the connection")
        self._received += chunk
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or len(body) < _content_length(head):
            return False
        self.refused += head[9:10] not in b"23"
        self.latencies_s.append(time.perf_counter() - self._sent_s)
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


def _report(connections: list[Connection], passed_s: float) -> None:
    latencies = sorted(one for connection in connections for one in connection.latencies_s)
    for percent in (50, 99):
        print(f"  {percent}%  {latencies[len(latencies) * percent // 100] * 1000:.3f}ms")
    print(f"  {len(latencies)} requests in {passed_s:.2f}s")
    refused = sum(connection.refused for connection in connections)
    if refused:
        print(f"Non-2xx or 3xx responses: {refused}")
    print(f"Requests/sec: {len(latencies) / passed_s:.2f}")


def main() -> None:
    order = json.loads(sys.argv[1])
    connections = [
        Connection(order["port"], order["requests"], n) for n in range(order["connections"])
    ]
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
        _report(connections, time.perf_counter() - began)


if __name__ == "__main__":
    main()
