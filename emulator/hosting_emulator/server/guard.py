"""The guard: it answers the control API's owner, and pages of other origins where they are let in.

A browser on the same machine can be led to send requests here (CSRF) or to take this address for
its own site's (DNS rebinding); the Origin and Host headers give both away. To other machines, and to
whatever a proxy hands on, the control API is closed, except to whoever has the control token.

A web app under development is served from another port of this machine. Its pages may call what such
an app calls in production (CORS): `/v1`, and of the identity provider what a client library fetches.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Sequence
from hmac import compare_digest

from aiohttp import web

from hosting_emulator.contract.problems import Refused
from hosting_emulator.server import answers
from hosting_emulator.server.hosts import Hosts, is_loopback
from hosting_emulator.server.pages.layout import CONTENT_SECURITY_POLICY, Html, page

TOKEN_HEADER = "X-Control-Token"
#: Open to other machines too: an application under test needs its identity provider, people read
#: the documentation, and orchestrators ask for health.
_OPEN = re.compile(r"/_emulator/(health|(docs|static)(/.*)?|contract/.*|(worlds/[^/]+/)?idp/.*)")
#: Open to web apps of other origins that are let in: what an OpenID client library fetches.
_FOR_APPS = re.compile(
    r"/_emulator/(worlds/[^/]+/)?idp/"
    r"(\.well-known/openid-configuration|jwks\.json|token|userinfo)"
)
#: What proxies add: the request then comes from elsewhere, whatever its connection says.
_HANDED_ON = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")
#: Makes a browser ask for a name and a password; the name may be anything.
_ASK = 'Basic realm="hosting-emulator: the password is the control token", charset="UTF-8"'
_EXPLANATION = Html(
    "<h1>Control token needed</h1>"
    "<p>From another machine, and through a proxy, the control API and its pages open with the "
    "<strong>control token</strong>. <code>hosting-emulator start</code> prints it; "
    "<code>--control-token</code> or <code>HOSTING_EMULATOR_CONTROL_TOKEN</code> sets it.</p>"
    "<p>Load this page again and give the token as the password; the user name may be anything. "
    f"Programs send it in the header <code>{TOKEN_HEADER}</code>.</p>"
)


class Guard:
    """Decides who may use one server.

    `everybody` demands the token of this machine's own requests too: behind a proxy all requests
    look like those.
    """

    def __init__(self, hosts: Hosts, token: str | None, *, everybody: bool = False) -> None:
        self.hosts = hosts
        self._token = None if token is None else _bytes(token)
        self._everybody = everybody

    def refusal(self, request: web.BaseRequest, path: str) -> web.Response | None:
        """Return the answer to a request of the control API that may not pass; None lets it through."""
        hosts = request.headers.getall("Host", [])
        host = hosts[0] if hosts else ""
        if len(hosts) > 1 or not (_same_origin(request, host) or self.app_of(request, path)):
            if _FOR_APPS.fullmatch(path) and "Origin" in request.headers:
                return _forbidden(_not_let_in(request.headers["Origin"]))
            return _forbidden("a page of another site may not use the control API")
        if self._token is not None:
            given = request.headers.get(TOKEN_HEADER) or basic_credentials(request)[1]
            if compare_digest(_bytes(given), self._token):
                return None
        handed_on = any(name in request.headers for name in _HANDED_ON)
        mine = is_loopback(request.remote) and not handed_on and not self._everybody
        if mine and self.hosts.local(host):
            return None
        if self.hosts.harmless(host):
            if _OPEN.fullmatch(path):
                return None
            if not mine:
                return _token_required(request)
        return _forbidden(
            f"the Host {host[:80]!r} is not this emulator's; allow it with --allow-host"
        )

    def app_of(self, request: web.BaseRequest, path: str | None = None) -> str | None:
        """Return the origin of the web app that asks, where such apps are let in; else None.

        Without a path it asks for the public API.
        """
        origins = request.headers.getall("Origin", ())
        if len(origins) != 1 or not (path is None or _FOR_APPS.fullmatch(path)):
            return None
        return origins[0] if self.hosts.lets_in(origins[0]) else None

    def refused_origin(self, request: web.BaseRequest) -> Refused | None:
        """Return why a page's browser is told, before it asks, not to; None: it does not ask so."""
        origin = request.headers.get("Origin", "")
        if not _asks_before(request):
            return None
        return Refused(
            "forbidden",
            _not_let_in(origin),
            why="the browser then shows a CORS error",
            action="Start the emulator with --allow-origin and the page's origin.",
        )

    def refused_host(self, request: web.BaseRequest) -> Refused | None:
        """Return why the public API does not answer under a request's Host; None: it does.

        A bearer token alone would not do: those of a well-known seed can be made by anybody.
        """
        hosts = request.headers.getall("Host", ())
        if len(hosts) == 1 and (hosts[0] in self.hosts.known or self.hosts.harmless(hosts[0])):
            return None
        if not hosts:
            return None
        return Refused(
            "invalid_request",
            f"The Host {', '.join(hosts)[:80]!r} is not this emulator's; `start --allow-host` allows"
            " it.",
            why="a web page of another site could have this Host (DNS rebinding)",
            action="Start the emulator with --allow-host and this name, or ask for one of its own.",
        )


def _not_let_in(origin: str) -> str:
    return (
        f"Pages of the origin {origin[:80]!r} are not allowed; `start --allow-origin` allows them."
    )


def _asks_before(request: web.BaseRequest) -> bool:
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def basic_credentials(request: web.BaseRequest) -> tuple[str, str]:
    """Return the name and the password that a request brings (RFC 7617); empty where it brings none."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    try:
        decoded = b64decode(encoded, validate=True).decode() if scheme.lower() == "basic" else ""
    except ValueError:
        decoded = ""
    name, _, password = decoded.partition(":")
    return name, password


def _same_origin(request: web.BaseRequest, host: str) -> bool:
    origins = request.headers.getall("Origin", ())
    if origins:
        ours = (f"http://{host}".lower(), f"https://{host}".lower())
        return len(origins) == 1 and origins[0].lower() in ours
    # Browsers that send no Origin (plain GET) still say where a request comes from.
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        return True
    # Following a link to a page is not reading it: the other site never sees the answer.
    return request.method == "GET" and request.headers.get("Sec-Fetch-Dest") == "document"


def asks_for_page(request: web.BaseRequest) -> bool:
    """Tell whether a browser asks, for something to show to a person."""
    return request.method == "GET" and "text/html" in request.headers.get("Accept", "")


def _token_required(request: web.BaseRequest) -> web.Response:
    if asks_for_page(request):
        text = page("Control token needed", _EXPLANATION)
        return answers.html(text, CONTENT_SECURITY_POLICY, 401, WWW_Authenticate=_ASK)
    return answers.problem(
        401,
        "Control token required",
        f"From another machine the control API requires the header {TOKEN_HEADER}; `start` prints "
        "the token, --control-token sets it.",
    )


def _forbidden(detail: str) -> web.Response:
    return answers.problem(403, "Refused by the control API's guard", detail)


# --- pages of other origins ----------------------------------------------------------------------


def granted(origin: str) -> Sequence[tuple[str, str]]:
    """Return the headers by which a page of that origin may read an answer."""
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"),
        ("Vary", "Origin"),
    )


def preflight(request: web.BaseRequest, origin: str) -> web.Response | None:
    """Answer a browser that asks, before the request itself, if a page may send it; None: it is none."""
    if not _asks_before(request):
        return None
    headers = {
        **dict(granted(origin)),
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
        "Access-Control-Max-Age": "600",  # seconds; then the browser asks again
    }
    if "Access-Control-Request-Private-Network" in request.headers:
        headers["Access-Control-Allow-Private-Network"] = "true"
    return web.Response(status=204, headers=headers)
