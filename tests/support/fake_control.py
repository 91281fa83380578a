"""A fake of the control API: it sends the responses that a test chooses and records the requests.

It listens on a free loopback port and uses real sockets, because clients are tested for how they keep a
connection open, lose it and find nobody there. Each response is compared with the types of the control
API when a test chooses it, unless the test says that the response is deliberately wrong.
"""

import json
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.control_types import (
    record_mismatches,
    response_mismatches,
    success_status,
)


@dataclass
class ReceivedRequest:
    """A request that the fake received; `path` is the part below /_emulator."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class FakeResponse:
    """A response that the fake sends. `text` is sent instead of the JSON of `body`.

    Without `status` and `content_type` it has those of a success, or of a problem. Only a
    `deliberately_wrong` response may be one that the control API never sends.
    """

    body: Any = None
    status: int | None = None
    text: str | None = None
    content_type: str | None = None
    close_after: bool = False
    close_before: bool = False
    silent: bool = False
    deliberately_wrong: bool = False

    @property
    def media_type(self) -> str:
        if self.content_type is not None:
            return self.content_type
        is_problem = self.status is not None and self.status >= 400
        return "application/problem+json" if is_problem else "application/json"

    def check(self, request: str) -> None:
        """Raise AssertionError unless the control API could respond to `request` like this."""
        if self.deliberately_wrong or self.close_before:
            return
        status = self.status or success_status(request)
        mismatches = response_mismatches(request, status, self.media_type, self.body)
        if mismatches:
            details = "\n  ".join(mismatches)
            raise AssertionError(f"the control API never responds to {request} so:\n  {details}")
        self.status = status


#: What another server responds.
ANOTHER_SERVER = FakeResponse(text="<html>", content_type="text/html", deliberately_wrong=True)


def event_stream(*events: tuple[str, Any], **options: Any) -> FakeResponse:
    """Return a stream of events, each given by its kind and its data."""
    lines = ["retry: 1\nid: 0\n\n"]
    for kind, data in events:
        if kind == "request":
            mismatches = record_mismatches("Exchange", data)
            assert mismatches == [], mismatches
        lines.append(f"id: 1\nevent: {kind}\ndata: {json.dumps(data)}\n\n")
    return FakeResponse(text="".join(lines), content_type="text/event-stream", **options)


@dataclass
class FakeControl:
    """`responses` has those to "METHOD /path" (below /_emulator); the last one is repeated."""

    responses: dict[str, list[FakeResponse]] = field(default_factory=dict)
    requests: list[ReceivedRequest] = field(default_factory=list)
    connections: int = 0
    dropped: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS with whoever connects from now on."""
        self._server.tls = context

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def control_url(self) -> str:
        return f"{self.url}/_emulator"

    def on(self, request: str, *responses: Any) -> None:
        """Respond to "METHOD /path" with these, each a `FakeResponse` or the JSON of a success."""
        chosen = [
            response if isinstance(response, FakeResponse) else FakeResponse(response)
            for response in responses
        ]
        for response in chosen:
            response.check(request)
        self.responses[request] = chosen

    def bodies(self, request: str) -> list[Any]:
        return [
            received.body
            for received in self.requests
            if f"{received.method} {received.path}" == request
        ]

    def next_response(self, request: str) -> FakeResponse:
        remaining = self.responses.get(request, [])
        if not remaining:
            return refusal(404, f"the fake has no response to {request}")
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]


def refusal(status: int, detail: str, title: str = "Refused") -> FakeResponse:
    """Return a problem of the control API."""
    problem = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "documentation": "http://127.0.0.1:4620/_emulator/docs",
    }
    return FakeResponse(problem, status)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeControl
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.tls is None:
            return super().finish_request(request, client_address)
        with suppress(ssl.SSLError), self.tls.wrap_socket(request, server_side=True) as secure:
            super().finish_request(secure, client_address)
        return None

    def process_request(self, request: Any, client_address: Any) -> None:
        self.fake.connections += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.fake.dropped.set()


def _handler_of(fake: FakeControl) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body leave together: no waiting for an acknowledgement between

        def respond(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.removeprefix("/_emulator")
            body = json.loads(raw) if raw else None
            fake.requests.append(ReceivedRequest(self.command, path, dict(self.headers), body))
            response = fake.next_response(f"{self.command} {path}")
            self.close_connection = response.close_after or response.close_before
            if response.silent:
                fake.released.wait(10)
            if not response.close_before:
                self.write(response)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond  # noqa: N815 - http.server's names

        def write(self, response: FakeResponse) -> None:
            text = json.dumps(response.body) if response.text is None else response.text
            content = b"" if response.status == 204 else text.encode()
            self.send_response(response.status or 200)
            self.send_header("Content-Type", response.media_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
