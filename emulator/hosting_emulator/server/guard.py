"""The guard of the control API: it answers its owner, and no web page of another site.

A browser on the same machine can be led to send requests here (CSRF) or to take this address for
its own site's (DNS rebinding); the Origin and Host headers give both away. From other machines the
control API is closed, except to whoever has the control token.
"""

from __future__ import annotations

import re
from hmac import compare_digest
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web

from hosting_emulator.server import answers

TOKEN_HEADER = "X-Control-Token"
#: Open to other machines too: an application under test needs its identity provider, people read
#: the documentation, and orchestrators ask for health.
_OPEN = re.compile(r"/_emulator/(health|docs(/.*)?|contract/.*|(worlds/[^/]+/)?idp/.*)")


class Guard:
    """Decides who may use the control API of one server."""

    def __init__(self, allowed_hosts: frozenset[str], token: str | None) -> None:
        self._allowed_hosts = frozenset(host.lower() for host in allowed_hosts)
        self._token = token

    def refusal(self, request: web.BaseRequest, path: str) -> web.Response | None:
        """Return the answer to a request that may not pass; None lets it through."""
        host = request.headers.get("Host", "")
        if not _same_origin(request, host):
            return _forbidden("a page of another site may not use the control API")
        if self._has_token(request):
            return None
        if _is_loopback(request.remote):
            if not self._knows(host):
                return _forbidden(
                    f"the Host {host[:80]!r} is not this emulator's; allow it with --allow-host"
                )
            return None
        if _OPEN.fullmatch(path):
            return None
        return answers.problem(
            401,
            "Control token required",
            f"From another machine the control API needs the header {TOKEN_HEADER}; `start` prints "
            "the token, --control-token sets it.",
        )

    def _has_token(self, request: web.BaseRequest) -> bool:
        given = request.headers.get(TOKEN_HEADER, "")
        return self._token is not None and compare_digest(given.encode(), self._token.encode())

    def _knows(self, host: str) -> bool:
        name = host_name(host)
        return (
            name == "localhost"
            or name.endswith(".localhost")
            or (name in self._allowed_hosts or _is_loopback(name))
        )


def host_name(host: str) -> str:
    """Return the name of a Host header, lowercase, without port or brackets."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_loopback(address: str | None) -> bool:
    try:
        return ip_address(address or "").is_loopback
    except ValueError:
        return False


def _same_origin(request: web.BaseRequest, host: str) -> bool:
    origin = request.headers.get("Origin")
    if origin is not None:
        return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())
    # Browsers that send no Origin (plain GET) still say where a request comes from.
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        return True
    # Following a link to a page is not reading it: the other site never sees the answer.
    dest = request.headers.get("Sec-Fetch-Dest")
    return request.method == "GET" and dest == "document"


def _forbidden(detail: str) -> web.Response:
    return answers.problem(403, "Refused by the control API's guard", detail)
