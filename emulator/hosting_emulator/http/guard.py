"""The guard, which accepts or refuses requests by their Host, origin and control token.

A web page can make a browser on this machine send requests to this server (CSRF), and its owner can
make the page's host name resolve to this machine (DNS rebinding). Only the `Host`, `Origin` and
`Sec-Fetch-Site` headers reveal such requests. Therefore a name that anybody could register in the
public DNS is accepted only if the user has allowed it. Control requests from other machines or
through a proxy require the control token. As in production, a web app on another port of this
machine can call `/v1` and the identity provider's endpoints for client libraries (CORS).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Final

from aiohttp import web

from hosting_emulator.contract.problems import Refused
from hosting_emulator.http import responses
from hosting_emulator.http.addresses import (
    RESERVED,
    address_of,
    host_name,
    host_of_origin,
    is_loopback,
    is_this_machine,
)
from hosting_emulator.http.cors import origin_refusal
from hosting_emulator.http.pages import CONTENT_SECURITY_POLICY, DOCS_PATH, control_token_page
from hosting_emulator.http.request_head import RequestHead, basic_credentials, wants_page
from hosting_emulator.world.naming import DEFAULT_WORLD

TOKEN_HEADER: Final = "X-Control-Token"
#: The header in which the emulator's own page sends the page secret with requests to `/v1`.
PAGE_HEADER: Final = "X-Emulator-Page"
#: The maximum number of safe hosts to remember. This is plenty, because a client uses one or two
#: hosts.
_MOST_SAFE_HOSTS: Final = 256
#: The paths for which other machines need no token, because applications under test need the
#: identity provider, users read the documentation, and orchestrators call the health check.
_OPEN: Final = re.compile(
    r"/_emulator/(health|(docs|static)(/.*)?|contract/.*|(worlds/[^/]+/)?idp/.*)"
)
#: The paths that pages from allowed origins may request, because OpenID client libraries need them.
_OPEN_TO_APPS: Final = re.compile(
    r"/_emulator/(worlds/[^/]+/)?idp/"
    r"(\.well-known/openid-configuration|jwks\.json|token|userinfo)"
)
#: Headers that proxies add. A request with any of these is treated as coming from another machine,
#: even if its connection comes from this one.
_PROXY_HEADERS: Final = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")
#: The challenge that makes a browser prompt for a user name and password. Any user name is
#: accepted.
_CHALLENGE: Final = (
    'Basic realm="hosting-emulator: the password is the control token", charset="UTF-8"'
)


@dataclass(slots=True)
class Site:
    """The addresses, host names, allowed origins and control token of a server.

    URLs in responses are based on the request's Host, so that they also work through a mapped port
    or under another name. If the server does not accept this Host, or if `public_url` is set, they
    are based on the server's own URL. `public_url` has no trailing slash. `names` and `origins` are
    lowercase, and `names` contain no port. With `is_behind_proxy`, requests from this machine also
    need the control token.
    """

    url: str = ""
    public_url: str | None = None
    tls_port: int | None = None
    ca_file: str | None = None
    names: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)
    is_behind_proxy: bool = False
    #: The hosts that `is_safe_host` has already accepted.
    safe_hosts: set[str] = field(default_factory=set)
    #: A secret known only to this process and to users of the control API.
    page_secret: str = field(default_factory=token_urlsafe, repr=False)

    # --- Addresses ------------------------------------------------------------------------------

    @property
    def local_url(self) -> str:
        """The URL of the server on this machine, even if it listens on all addresses."""
        return self.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

    @property
    def own_url(self) -> str:
        """The server's public URL or, if none is set, its URL on this machine."""
        return self.public_url or self.local_url

    def base_url(self, request: RequestHead) -> str:
        """Return the scheme, host and port that the client uses for this server."""
        if self.public_url is not None:
            return self.own_url
        hosts = request.headers.getall("Host", ())
        if len(hosts) != 1 or not host_name(hosts[0]) or not self.is_safe_host(hosts[0]):
            return self.own_url
        return f"{request.scheme}://{hosts[0]}"

    def docs_url(self, request: RequestHead) -> str:
        """Return the URL of the documentation.

        It is based on the request's Host only if a browser can open the documentation at this Host.
        """
        opens = self._is_local_host(request.headers.get("Host", ""))
        if opens or not is_loopback(request.remote):
            return self.base_url(request) + DOCS_PATH
        return self.own_url + DOCS_PATH

    # --- Hosts and origins ----------------------------------------------------------------------

    def _is_local_host(self, host: str) -> bool:
        """Return whether a Host header contains one of this machine's names or an allowed name."""
        name = host_name(host)
        return is_this_machine(name) or name in self.names

    def is_safe_host(self, host: str) -> bool:
        """Return whether no other website can use this Host. An empty Host is also safe."""
        if host in self.safe_hosts:
            return True
        if host and not self._is_safe_name(host_name(host)):
            return False
        if len(self.safe_hosts) >= _MOST_SAFE_HOSTS:
            self.safe_hosts.clear()
        self.safe_hosts.add(host)
        return True

    def _is_safe_name(self, name: str) -> bool:
        if not name:
            return False
        if "." not in name or name in self.names or name.endswith(RESERVED):
            return True
        return address_of(name) is not None

    def host_refusal(self, hosts: Sequence[str]) -> Refused | None:
        """Return the refusal of a public API request with these Host headers, or None if it is
        allowed.

        A bearer token does not make a Host safe, because anybody can compute the tokens for a
        well-known seed.
        """
        if not hosts or (len(hosts) == 1 and self.is_safe_host(hosts[0])):
            return None
        return Refused(
            "invalid_request",
            f"The Host {', '.join(hosts)[:80]!r} does not belong to this emulator; "
            "`start --allow-host` allows it.",
            why="a page on another website could send requests with this Host (DNS rebinding)",
            action="Start the emulator with --allow-host and this name, or use one of the "
            "emulator's own names.",
        )

    def allows_origin(self, origin: str) -> bool:
        """Return whether pages from an origin are allowed.

        Origins at localhost, *.localhost and loopback addresses are always allowed.
        """
        return origin.lower() in self.origins or is_this_machine(host_of_origin(origin))

    def allowed_origin(self, request: web.BaseRequest) -> str | None:
        """Return a public API request's origin if it is allowed, or None otherwise."""
        origins = request.headers.getall("Origin", ())
        if len(origins) != 1 or not self.allows_origin(origins[0]):
            return None
        return origins[0]

    def allowed_control_origin(self, request: web.BaseRequest, path: str) -> str | None:
        """Return a control request's origin if it is allowed for the path, or None otherwise."""
        if not _OPEN_TO_APPS.fullmatch(path):
            return None
        return self.allowed_origin(request)

    def is_from_page(self, request: web.BaseRequest) -> bool:
        """Return whether a request has the page secret and therefore comes from the emulator's own page."""
        value = request.headers.get(PAGE_HEADER)
        if value is None:
            return False
        return compare_digest(_to_bytes(value), self.page_secret.encode())

    # --- The control API ------------------------------------------------------------------------

    def control_refusal(self, request: web.BaseRequest, path: str) -> web.Response | None:
        """Return a response that refuses a control request, or None if the request is allowed."""
        hosts = request.headers.getall("Host", [])
        host = hosts[0] if hosts else ""
        if len(hosts) > 1 or not self._is_allowed_page(request, host, path):
            if _OPEN_TO_APPS.fullmatch(path) and "Origin" in request.headers:
                return _forbidden(origin_refusal(request.headers["Origin"]))
            return _forbidden("pages from other sites must not use the control API")
        if self._has_token(request):
            return None
        is_trusted = self._is_trusted(request)
        if is_trusted and self._is_local_host(host):
            return None
        is_open = bool(_OPEN.fullmatch(path))
        if not self.is_safe_host(host) or (is_trusted and not is_open):
            return _forbidden(
                f"the Host {host[:80]!r} does not belong to this emulator; allow it with --allow-host"
            )
        if is_open:
            return None
        return _require_token(request)

    def _is_allowed_page(self, request: web.BaseRequest, host: str, path: str) -> bool:
        if _is_same_origin(request, host):
            return True
        return self.allowed_control_origin(request, path) is not None

    def _has_token(self, request: web.BaseRequest) -> bool:
        if self.token is None:
            return False
        _, password = basic_credentials(request)
        token = request.headers.get(TOKEN_HEADER) or password
        return compare_digest(_to_bytes(token), _to_bytes(self.token))

    def _is_trusted(self, request: web.BaseRequest) -> bool:
        """Return whether a request comes directly from this machine and therefore needs no token."""
        if self.is_behind_proxy or not is_loopback(request.remote):
            return False
        return not any(name in request.headers for name in _PROXY_HEADERS)


def world_prefix(name: str) -> str:
    """Return what precedes `/v1` in a world's paths, or an empty string for the default world."""
    return "" if name == DEFAULT_WORLD else f"/worlds/{name}"


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _is_same_origin(request: web.BaseRequest, host: str) -> bool:
    """Return whether a request comes from one of this server's pages, or from no page at all."""
    origins = request.headers.getall("Origin", ())
    if origins:
        own_origins = (f"http://{host}".lower(), f"https://{host}".lower())
        return len(origins) == 1 and origins[0].lower() in own_origins
    # Browsers send no Origin with a plain GET, so check this header instead.
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        return True
    # Following a link to a page is allowed, because the other site cannot see the response.
    return request.method == "GET" and request.headers.get("Sec-Fetch-Dest") == "document"


def _require_token(request: web.BaseRequest) -> web.Response:
    if wants_page(request):
        text = control_token_page()
        return responses.html(text, CONTENT_SECURITY_POLICY, 401, WWW_Authenticate=_CHALLENGE)
    return responses.problem(
        401,
        "Control token required",
        "Control requests from another machine, or through a proxy, require the "
        f"{TOKEN_HEADER} header. Use the token that `start` prints. If it prints none, restart the "
        "emulator with `--control-token TEXT`.",
    )


def _forbidden(detail: str) -> web.Response:
    return responses.problem(403, "Refused by the control API's guard", detail)
