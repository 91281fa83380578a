"""A deliberately wrong server: it hands every request on to an emulator, and spoils some answers."""

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
    """A request on its way there, and then its answer on its way back."""

    method: str
    path: str
    sent: dict[str, str]
    content: bytes
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    #: How long to keep the client waiting for the answer; it hangs up long before.
    hangs: bool = False
    #: Whether to send one byte at a time, for ever.
    drips: bool = False
    #: How many bytes of the announced body are not sent.
    cut: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @json.setter
    def json(self, document: Any) -> None:
        self.body = json.dumps(document).encode()

    @property
    def sent_json(self) -> dict[str, Any]:
        """The body as a JSON object; empty where it is none."""
        try:
            document = json.loads(self.content)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    @sent_json.setter
    def sent_json(self, document: Any) -> None:
        self.content = json.dumps(document).encode()

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class Tampering:
    """What a wrong server does: to requests before they arrive, to answers before they leave."""

    def before(self, exchange: Exchange) -> None:
        """Change a request."""

    def after(self, exchange: Exchange) -> None:
        """Change an answer."""


@contextmanager
def wrong_server(behind: str, tampering: Tampering) -> Iterator[str]:
    """Serve what answers at `behind`, tampered with; the address is yielded."""
    parts = urlsplit(behind)
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
    """Send a request on and take its answer. A dev origin is named by its Host, others are not."""
    headers = {n: v for n, v in exchange.sent.items() if n.lower() not in _HOP_BY_HOP}
    host = exchange.sent.get("Host", "")
    headers["Host"] = host if host.startswith("dev-") else netloc
    with HttpClient(f"http://{netloc}", timeout_s=10) as client:
        response = client.send(exchange.method, exchange.path, exchange.content or None, headers)
    exchange.status = response.status
    exchange.body = response.body
    exchange.headers = {
        name: value for name, value in response.headers.items() if name.lower() not in _HOP_BY_HOP
    }
