"""Asking as browsers, proxies and worse do: with exactly these headers."""

from __future__ import annotations

from collections.abc import Iterable

from tests.support.calls import Response
from tests.support.wire import wire

Headers = Iterable[tuple[str, str]]


def ask(
    base_url: str,
    method: str,
    target: str,
    headers: Headers = (),
    body: str = "",
    version: str = "1.1",
) -> Response:
    """Send one request over a connection of its own; `headers` are all there are but the length."""
    lines = [f"{method} {target} HTTP/{version}", *(f"{name}: {value}" for name, value in headers)]
    lines += [f"Content-Length: {len(body)}", "Connection: close"]
    with wire(base_url) as connection:
        connection.send(("\r\n".join(lines) + "\r\n\r\n" + body).encode("latin-1"))
        return connection.answer(method)


def host_of(base_url: str) -> str:
    """Return the Host that a browser sends to a base URL."""
    return base_url.partition("://")[2].partition("/")[0]
