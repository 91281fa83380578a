"""A fake of the control API, which sends the responses that a test chooses and records requests.

The fake uses real sockets on a free loopback port, because tests of clients also cover kept-alive,
lost and refused connections. When a test chooses a response, the response is checked against the
types of the control API, unless the test marks it as deliberately wrong.
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
    """A request that the fake received. `path` is the part of the path below `/_emulator`."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class FakeResponse:
    """A response that the fake sends.

    `text` replaces the JSON of `body`. The default `status` is that of a success. The default
    `content_type` is JSON, or that of a problem if `status` is an error. Only a
    `deliberately_wrong` response may differ from the responses that the control API documents.
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
        """Raise AssertionError if the control API never sends this response to `request`."""
        if self.deliberately_wrong or self.close_before:
            return
        status = self.status or success_status(request)
        mismatches = response_mismatches(request, status, self.media_type, self.body)
        if mismatches:
            details = "\n  ".join(mismatches)
            raise AssertionError(
                f"the control API never sends this response to {request}:\n  {details}"
            )
        self.status = status


#: A response of a server that is not an emulator.
ANOTHER_SERVER = FakeResponse(text="<html>", content_type="text/html", deliberately_wrong=True)


def event_stream(*events: tuple[str, Any], **options: Any) -> FakeResponse:
    """Return a response with an event stream. Each event is a pair of a kind and data."""
    lines = ["retry: 1\nid: 0\n\n"]
    for kind, data in events:
        if kind == "request":
            mismatches = record_mismatches("Exchange", data)
            assert mismatches == [], mismatches
        lines.append(f"id: 1\nevent: {kind}\ndata: {json.dumps(data)}\n\n")
    return FakeResponse(text="".join(lines), content_type="text/event-stream", **options)


@dataclass
class FakeControl:
    """A fake server of the control API.

    `responses` contains the responses to each request, such as "GET /worlds". The responses
    are sent in order, and the last response is repeated.
    """

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
        """Use TLS for all connections from now on."""
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
        """Choose the responses to a request such as "GET /worlds".

        Each response is a `FakeResponse`, or the JSON of a successful response.
        """
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
        wbufsize = (
            -1
        )  # sends head and body together, so that the body does not wait for an acknowledgement

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
