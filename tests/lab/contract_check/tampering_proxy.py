"""A deliberately wrong server: it forwards every request to an emulator and spoils some responses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.support.http_client import HttpClient

_HOP_BY_HOP = {"content-length", "connection", "transfer-encoding", "keep-alive", "host"}


@dataclass
class Exchange:
    """A request on its way to the server, and then its response on its way back."""

    method: str
    path: str
    request_headers: dict[str, str]
    request_body: bytes
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    #: Whether the response never comes; the client gives up long before.
    hangs: bool = False
    #: Whether to send one byte at a time, forever.
    drips: bool = False
    #: The number of bytes of the announced body that are not sent.
    cut: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @json.setter
    def json(self, document: Any) -> None:
        self.body = json.dumps(document).encode()

    @property
    def request_json(self) -> dict[str, Any]:
        """The request body as a JSON object; empty if it is not one."""
        try:
            document = json.loads(self.request_body)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    @request_json.setter
    def request_json(self, document: Any) -> None:
        self.request_body = json.dumps(document).encode()

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class Tampering:
    """The changes of a wrong server: to requests before they arrive, to responses before they leave."""

    def before(self, exchange: Exchange) -> None:
        """Change a request."""

    def after(self, exchange: Exchange) -> None:
        """Change a response."""


@contextmanager
def wrong_server(target_url: str, tampering: Tampering) -> Iterator[str]:
    """Serve what `target_url` serves, tampered with, and yield the address."""
    parts = urlsplit(target_url)
    stopping = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5
        disable_nagle_algorithm = True
        wbufsize = -1

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            exchange = Exchange(
                self.command, self.path, dict(self.headers.items()), self.rfile.read(length)
            )
            tampering.before(exchange)
            forward(exchange, parts.netloc)
            tampering.after(exchange)
            if exchange.hangs:
                stopping.wait(5)
                self.close_connection = True
                return
            self.send_response_only(exchange.status)
            for name, value in exchange.headers.items():
                self.send_header(name, value)
            length = 10**6 if exchange.drips else len(exchange.body)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            while exchange.drips and not stopping.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()
            self.wfile.write(exchange.body[: len(exchange.body) - exchange.cut])
            self.close_connection = exchange.cut > 0 or exchange.drips

        do_GET = do_PUT = do_POST = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{parts.path}"
    finally:
        stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def forward(exchange: Exchange, netloc: str) -> None:
    """Forward a request and read its response. Only a dev origin keeps its Host."""
    headers = {
        name: value
        for name, value in exchange.request_headers.items()
        if name.lower() not in _HOP_BY_HOP
    }
    host = exchange.request_headers.get("Host", "")
    headers["Host"] = host if host.startswith("dev-") else netloc
    with HttpClient(f"http://{netloc}", timeout_s=10) as client:
        response = client.send(
            exchange.method, exchange.path, exchange.request_body or None, headers
        )
    exchange.status = response.status
    exchange.body = response.body
    exchange.headers = {
        name: value for name, value in response.headers.items() if name.lower() not in _HOP_BY_HOP
    }
