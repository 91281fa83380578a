"""A small control server for tests: says what it is told to say and remembers what it was asked.

It answers on a free loopback port over real sockets, so that keeping a connection alive, dropping
it and being gone are what they are in life.
"""

import json
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Says:
    """One answer: `text` stands instead of `body` where it must not be JSON."""

    body: Any = None
    status: int = 200
    text: str | None = None
    content_type: str = "application/json"
    close_after: bool = False
    close_before: bool = False
    silent: bool = False


@dataclass
class FakeControl:
    """`answers` maps "METHOD /path" (below /_emulator) to answers; the last one is repeated."""

    answers: dict[str, list[Says]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
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

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def control_url(self) -> str:
        return f"{self.url}/_emulator"

    def on(self, request: str, *answers: Any) -> None:
        """Answer "METHOD /path" with these, each a `Says` or the JSON of a 200."""
        self.answers[request] = [a if isinstance(a, Says) else Says(a) for a in answers]

    def bodies(self, request: str) -> list[Any]:
        return [a.body for a in self.asked if f"{a.method} {a.path}" == request]

    def next_answer(self, request: str) -> Says:
        left = self.answers.get(request, [])
        if not left:
            problem = {"type": "about:blank", "title": "Not found", "status": 404}
            return Says(
                {**problem, "detail": f"the fake knows no {request}"},
                status=404,
                content_type="application/problem+json",
            )
        return left.pop(0) if len(left) > 1 else left[0]


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

        def answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.removeprefix("/_emulator")
            body = json.loads(raw) if raw else None
            fake.asked.append(Asked(self.command, path, dict(self.headers), body))
            says = fake.next_answer(f"{self.command} {path}")
            self.close_connection = says.close_after or says.close_before
            if says.silent:
                fake.released.wait(10)
            if not says.close_before:
                self.write(says)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - http.server's names

        def write(self, says: Says) -> None:
            text = json.dumps(says.body) if says.text is None else says.text
            content = b"" if says.status == 204 else text.encode()
            self.send_response(says.status)
            self.send_header("Content-Type", says.content_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
