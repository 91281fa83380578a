"""The guard: who may ask this server, under which names, from which origins, and where it is found.

A browser on this machine can be led to send requests here (CSRF), or a page to make its own name stand
for this machine (DNS rebinding); only Origin and Host give them away. So a name that anybody can own in
the public DNS is answered only when it was allowed. To other machines and through a proxy the control
API needs the control token. Pages of a web app at another port of this machine may call what it calls
in production (CORS): `/v1`, and of the identity provider what a client library fetches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hmac import compare_digest
from ipaddress import IPv4Address, IPv6Address, ip_address
from secrets import token_urlsafe

from aiohttp import BasicAuth, web

from hosting_emulator.contract.problems import Refused
from hosting_emulator.http import responses
from hosting_emulator.http.pages import CONTENT_SECURITY_POLICY, DOCS_PATH, control_token_page
from hosting_emulator.http.request_head import RequestHead
from hosting_emulator.world.naming import DEFAULT_WORLD

TOKEN_HEADER = "X-Control-Token"
#: By this header, which holds the page's secret, the emulator's page marks what it sends to `/v1`.
PAGE_HEADER = "X-Emulator-Page"
_HOST = re.compile(
    r"([A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?"
)
_ORIGIN = re.compile(r"https?://([^/?#@\\\s]+)")
#: Nobody can own a name under these in the public DNS (RFC 6761, RFC 8375, ICANN's `internal`).
RESERVED = (".localhost", ".internal", ".test", ".example", ".invalid", ".home.arpa")
#: How many names and addresses are remembered; a client uses one or two.
_REMEMBERED = 256
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


def host_name(host: str) -> str:
    """Return the name of a Host header, lowercase, without port or brackets; empty when it is none."""
    found = _HOST.fullmatch(host)
    return "" if found is None else (found[1] or found[2] or "").lower().rstrip(".")


@lru_cache(_REMEMBERED)  # each request asks, for where it comes from and for its Host
def address_of(name: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a name is, if it is one."""
    try:
        return ip_address(name)
    except ValueError:
        return None


def is_loopback(name: str | None) -> bool:
    """Tell whether an IP address (not a name) is this machine's own."""
    address = address_of(name or "")
    if isinstance(address, IPv6Address):  # how a socket for both families tells 127.0.0.1
        address = address.ipv4_mapped or address
    return address is not None and address.is_loopback


def is_this_machine(name: str) -> bool:
    """Tell whether a name or an IP address is this machine's own."""
    return name == "localhost" or name.endswith(".localhost") or is_loopback(name)


def host_of_origin(text: str) -> str:
    """Return the name in a web origin (scheme, host and port, nothing behind it); empty when it is none."""
    found = _ORIGIN.fullmatch(text)
    return host_name(found[1]) if found else ""


@dataclass(slots=True)
class Site:
    """One server: its addresses, the names it answers to, the origins that it lets in, and its token.

    `public_url` overrides what requests say; no slash at its end. `names` (without a port) and `origins`
    are lowercase. URLs follow the request's Host, so that they open through a mapped port or another
    name as well, but for one that this server does not answer to. `everybody`: behind a proxy, this
    machine's requests need the token too.
    """

    url: str = ""
    public_url: str | None = None
    tls_port: int | None = None
    names: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)
    everybody: bool = False
    #: Hosts that were found harmless.
    known: set[str] = field(default_factory=set)
    #: Known to this process and to whoever may use the control API.
    page_secret: str = field(default_factory=token_urlsafe, repr=False)

    def local(self, host: str) -> bool:
        """Tell whether a Host is a name of this machine, or one that was allowed."""
        name = host_name(host)
        return is_this_machine(name) or name in self.names

    def harmless(self, host: str) -> bool:
        """Tell whether no page of another site can be loaded under this Host. None at all is harmless."""
        if host in self.known:
            return True
        name = host_name(host)
        common = "." in name and name not in self.names and not name.endswith(RESERVED)
        if host and (not name or (common and address_of(name) is None)):
            return False
        if len(self.known) >= _REMEMBERED:
            self.known.clear()
        self.known.add(host)
        return True

    def is_from_page(self, request: web.BaseRequest) -> bool:
        """Return whether the emulator's page sent a request: it holds the page's secret."""
        value = request.headers.get(PAGE_HEADER)
        if value is None:
            return False
        return compare_digest(value.encode("utf-8", "surrogateescape"), self.page_secret.encode())

    def lets_in(self, origin: str) -> bool:
        """Tell whether pages of an origin (an Origin header's value) are let in: this machine's are."""
        return origin.lower() in self.origins or is_this_machine(host_of_origin(origin))

    def base_url(self, request: RequestHead) -> str:
        """Return scheme, host and port under which the asker reaches this server."""
        found = request.headers.getall("Host", ())
        host = found[0] if len(found) == 1 else ""
        if self.public_url is not None or not (host_name(host) and self.harmless(host)):
            return self.own_url
        return f"{request.scheme}://{host}"

    def docs_url(self, request: RequestHead) -> str:
        """Return where the documentation is: under the request's Host only if it opens there."""
        opens = self.local(request.headers.get("Host", "")) or not is_loopback(request.remote)
        return (self.base_url(request) if opens else self.own_url) + DOCS_PATH

    @property
    def local_url(self) -> str:
        """Where this machine reaches the server, which may listen on all addresses."""
        return self.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

    @property
    def own_url(self) -> str:
        """Where the server is reached when no request says how."""
        return self.public_url or self.local_url

    def refusal(self, request: web.BaseRequest, path: str) -> web.Response | None:
        """Return the answer to a request of the control API that may not pass; None lets it through."""
        hosts = request.headers.getall("Host", [])
        host = hosts[0] if hosts else ""
        if len(hosts) > 1 or not (_same_origin(request, host) or self.app_of(request, path)):
            if _FOR_APPS.fullmatch(path) and "Origin" in request.headers:
                return _forbidden(_not_let_in(request.headers["Origin"]))
            return _forbidden("a page of another site may not use the control API")
        if self.token is not None:
            given = request.headers.get(TOKEN_HEADER) or basic_credentials(request)[1]
            if compare_digest(_bytes(given), _bytes(self.token)):
                return None
        handed_on = any(name in request.headers for name in _HANDED_ON)
        mine = is_loopback(request.remote) and not handed_on and not self.everybody
        if mine and self.local(host):
            return None
        if not self.harmless(host) or (mine and not _OPEN.fullmatch(path)):
            return _forbidden(
                f"the Host {host[:80]!r} is not this emulator's; allow it with --allow-host"
            )
        if _OPEN.fullmatch(path):
            return None
        if asks_for_page(request):
            text = control_token_page()
            return responses.html(text, CONTENT_SECURITY_POLICY, 401, WWW_Authenticate=_ASK)
        return responses.problem(
            401,
            "Control token required",
            f"From another machine the control API requires the header {TOKEN_HEADER}; `start` "
            "prints the token, --control-token sets it.",
        )

    def app_of(self, request: web.BaseRequest, path: str | None = None) -> str | None:
        """Return the origin of the web app that asks, where such apps are let in; else None.

        Without a path it asks for the public API.
        """
        origins = request.headers.getall("Origin", ())
        if len(origins) != 1 or not (path is None or _FOR_APPS.fullmatch(path)):
            return None
        return origins[0] if self.lets_in(origins[0]) else None

    def refused_host(self, hosts: Sequence[str]) -> Refused | None:
        """Return why the public API does not answer under a request's Host headers; None: it does.

        A bearer token alone would not do: those of a well-known seed can be made by anybody.
        """
        if not hosts or (len(hosts) == 1 and self.harmless(hosts[0])):
            return None
        return Refused(
            "invalid_request",
            f"The Host {', '.join(hosts)[:80]!r} is not this emulator's; `start --allow-host` allows"
            " it.",
            why="a web page of another site could have this Host (DNS rebinding)",
            action="Start the emulator with --allow-host and this name, or ask for one of its own.",
        )


def world_prefix(name: str) -> str:
    """Return what stands before `/v1` in a world's paths."""
    return "" if name == DEFAULT_WORLD else f"/worlds/{name}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def basic_credentials(request: RequestHead) -> tuple[str, str]:
    """Return the name and the password that a request brings (RFC 7617); empty where it brings none."""
    try:
        found = BasicAuth.decode(request.headers.get("Authorization", ""), "utf-8")
    except ValueError:
        return "", ""
    return found.login, found.password


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


def _forbidden(detail: str) -> web.Response:
    return responses.problem(403, "Refused by the control API's guard", detail)


# --- pages of other origins: a browser asks before it sends (CORS) --------------------------------


def _not_let_in(origin: str) -> str:
    return (
        f"Pages of the origin {origin[:80]!r} are not allowed; `start --allow-origin` allows them."
    )


def _asks_before(request: web.BaseRequest) -> bool:
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def refused_origin(request: web.BaseRequest) -> Refused | None:
    """Return why a page's browser is told, before it asks, not to; None: it does not ask so."""
    if not _asks_before(request):
        return None
    return Refused(
        "forbidden",
        _not_let_in(request.headers.get("Origin", "")),
        why="the browser then shows a CORS error",
        action="Start the emulator with --allow-origin and the page's origin.",
    )


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
