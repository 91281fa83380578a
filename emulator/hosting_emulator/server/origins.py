"""Web apps of other origins: which may use `/v1` and sign people in, and how they are told (CORS).

A web app under development is served by its own server, from another port of this machine. Its pages
may call what such an app calls in production: `/v1`, and of the identity provider what a client
library fetches. The control API is never theirs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aiohttp import web

from hosting_emulator.server.hosts import host_name, is_loopback

_ORIGIN = re.compile(r"(https?)://([^/?#@\\\s]+)")
#: What a page may send and read; a browser asks again after so many seconds.
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_SENT = "Authorization, Content-Type, Idempotency-Key, X-Request-Id"
_READ = "X-Request-Id, Retry-After"
_PREFLIGHT_S = "600"


class Origins:
    """The origins whose pages are let in: all of this machine's, and those that were `allowed`."""

    def __init__(self, allowed: frozenset[str] = frozenset()) -> None:
        self._allowed = frozenset(origin.lower() for origin in allowed)

    def allows(self, origin: str) -> bool:
        """Tell whether pages of an origin (an Origin header's value) are let in."""
        found = _ORIGIN.fullmatch(origin)
        if found is None:
            return False
        if origin.lower() in self._allowed:
            return True
        name = host_name(found[2])
        return name == "localhost" or name.endswith(".localhost") or is_loopback(name)

    def of_app(self, request: web.BaseRequest) -> str | None:
        """Return the origin of the page that sent a request, if such pages are let in."""
        origins = request.headers.getall("Origin", [])
        return origins[0] if len(origins) == 1 and self.allows(origins[0]) else None


def is_origin(text: str) -> bool:
    """Tell whether a text is a web origin: scheme, host and port, nothing behind it."""
    found = _ORIGIN.fullmatch(text)
    return found is not None and bool(host_name(found[2]))


def granted(origin: str) -> Sequence[tuple[str, str]]:
    """Return the headers by which a page of that origin may read an answer."""
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", _READ),
        ("Vary", "Origin"),
    )


def is_preflight(request: web.BaseRequest) -> bool:
    """Tell whether a browser asks, before the request itself, if a page may send it."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def preflight(request: web.BaseRequest, origin: str) -> web.Response:
    """Answer such a question with yes."""
    headers = dict(granted(origin))
    headers |= {
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": _SENT,
        "Access-Control-Max-Age": _PREFLIGHT_S,
    }
    if "Access-Control-Request-Private-Network" in request.headers:
        headers["Access-Control-Allow-Private-Network"] = "true"
    return web.Response(status=204, headers=headers)
