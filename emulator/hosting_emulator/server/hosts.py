"""Under which names a browser may ask this server, from which other origins, and where it is found.

A page of another site can make its own name stand for this machine's address (DNS rebinding): its
requests then look like those of this server's own pages, and only their Host gives them away. So a
name that anybody can own in the public DNS is answered only when it was allowed.

A web app under development is served by its own server, from another port of this machine. Its pages
may call what such an app calls in production: `/v1`, and of the identity provider what a client
library fetches. The control API is never theirs. The URLs that are told follow the request's Host, so
that they open through a mapped port or another name as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from aiohttp import web

from hosting_emulator.world.naming import DEFAULT_WORLD

_HOST = re.compile(
    r"([A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?"
)
#: Nobody can own a name under these in the public DNS (RFC 6761, RFC 8375, ICANN's `internal`).
RESERVED = (".localhost", ".internal", ".test", ".example", ".invalid", ".home.arpa")
#: How many names are remembered; a client uses one or two.
_REMEMBERED = 256
_ORIGIN = re.compile(r"(https?)://([^/?#@\\\s]+)")
#: What a page may send and read; a browser asks again after so many seconds.
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_SENT = "Authorization, Content-Type, Idempotency-Key, X-Request-Id"
_READ = "X-Request-Id, Retry-After"
_PREFLIGHT_S = "600"
_DOCS = "/_emulator/docs"


class Hosts:
    """The names one server answers to. `allowed` are names without a port, in any case."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self._allowed = frozenset(name.lower() for name in allowed)
        self._harmless: set[str] = set()

    def local(self, host: str) -> bool:
        """Tell whether a Host is a name of this machine, or one that was allowed."""
        name = host_name(host)
        if name == "localhost" or name.endswith(".localhost") or name in self._allowed:
            return True
        return is_loopback(name)

    def harmless(self, host: str) -> bool:
        """Tell whether no page of another site can have been loaded under this Host.

        None at all is harmless: a browser always sends one. So are addresses and names of one label.
        """
        if host in self._harmless:
            return True
        if host and not self._is_harmless(host_name(host)):
            return False
        if len(self._harmless) >= _REMEMBERED:
            self._harmless.clear()
        self._harmless.add(host)
        return True

    def _is_harmless(self, name: str) -> bool:
        if not name:
            return False
        return (
            "." not in name or name in self._allowed or name.endswith(RESERVED) or _is_address(name)
        )


def host_name(host: str) -> str:
    """Return the name of a Host header, lowercase, without port or brackets; empty when it is none."""
    found = _HOST.fullmatch(host)
    if found is None:
        return ""
    return (found[1] or found[2] or "").lower().rstrip(".")


def is_loopback(address: str | None) -> bool:
    """Tell whether an IP address (not a name) is this machine's own."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)  # 127.0.0.1 as a socket for both families tells it
    return (mapped or found).is_loopback


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


# --- web apps of other origins (CORS) ------------------------------------------------------------


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


# --- where this server is found ------------------------------------------------------------------


@dataclass(slots=True)
class Site:
    """The addresses of one server. `public_url` overrides what requests say; no slash at its end."""

    url: str
    public_url: str | None = None
    tls_port: int | None = None

    def base_url(self, request: web.BaseRequest) -> str:
        """Return scheme, host and port under which the asker reaches this server."""
        if self.public_url is not None:
            return self.public_url
        host = request.headers.get("Host", "")
        if not host_name(host):
            return self.url
        return f"{request.scheme}://{host}"

    def docs_url(self, request: web.BaseRequest) -> str:
        """Return where the documentation is."""
        return self.base_url(request) + _DOCS

    @property
    def own_docs_url(self) -> str:
        """Where the documentation is, whoever asks."""
        return (self.public_url or self.url) + _DOCS


def world_prefix(name: str) -> str:
    """Return what stands before `/v1` in a world's paths."""
    return "" if name == DEFAULT_WORLD else f"/worlds/{name}"
