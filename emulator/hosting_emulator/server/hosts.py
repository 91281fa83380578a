"""Under which names a browser may ask this server, from which origins, and where it is found.

A page of another site can make its own name stand for this machine's address (DNS rebinding): its
requests then look like those of this server's own pages, and only their Host gives them away. So a
name that anybody can own in the public DNS is answered only when it was allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address

from aiohttp import web

from hosting_emulator.world.naming import DEFAULT_WORLD

_HOST = re.compile(
    r"([A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?"
)
_ORIGIN = re.compile(r"https?://([^/?#@\\\s]+)")
#: Nobody can own a name under these in the public DNS (RFC 6761, RFC 8375, ICANN's `internal`).
RESERVED = (".localhost", ".internal", ".test", ".example", ".invalid", ".home.arpa")
#: How many names are remembered; a client uses one or two.
_REMEMBERED = 256
_DOCS = "/_emulator/docs"


class Hosts:
    """The names one server answers to, and the origins whose pages are let in.

    `names` (without a port) and `origins` are those that were allowed, in any case.
    """

    def __init__(self, names: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        self._names = frozenset(name.lower() for name in names)
        self._origins = frozenset(origin.lower() for origin in origins)
        #: Hosts that were found harmless.
        self.known: set[str] = set()

    def local(self, host: str) -> bool:
        """Tell whether a Host is a name of this machine, or one that was allowed."""
        name = host_name(host)
        return _is_this_machine(name) or name in self._names

    def harmless(self, host: str) -> bool:
        """Tell whether no page of another site can have been loaded under this Host.

        None at all is harmless: a browser always sends one. So are addresses and names of one label.
        """
        if host in self.known:
            return True
        name = host_name(host)
        common = "." in name and name not in self._names and not name.endswith(RESERVED)
        if host and (not name or (common and address_of(name) is None)):
            return False
        if len(self.known) >= _REMEMBERED:
            self.known.clear()
        self.known.add(host)
        return True

    def lets_in(self, origin: str) -> bool:
        """Tell whether pages of an origin (an Origin header's value) are let in: this machine's are."""
        found = _ORIGIN.fullmatch(origin)
        if found is None:
            return False
        return origin.lower() in self._origins or _is_this_machine(host_name(found[1]))


def host_name(host: str) -> str:
    """Return the name of a Host header, lowercase, without port or brackets; empty when it is none."""
    found = _HOST.fullmatch(host)
    return "" if found is None else (found[1] or found[2] or "").lower().rstrip(".")


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


def _is_this_machine(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost") or is_loopback(name)


def is_origin(text: str) -> bool:
    """Tell whether a text is a web origin: scheme, host and port, nothing behind it."""
    found = _ORIGIN.fullmatch(text)
    return found is not None and bool(host_name(found[1]))


@dataclass(slots=True)
class Site:
    """The addresses of one server. `public_url` overrides what requests say; no slash at its end.

    URLs follow the request's Host, so that they open through a mapped port or another name as well,
    but for one that this server does not answer to.
    """

    url: str
    public_url: str | None = None
    tls_port: int | None = None
    hosts: Hosts = field(default_factory=Hosts)

    def base_url(self, request: web.BaseRequest) -> str:
        """Return scheme, host and port under which the asker reaches this server."""
        found = request.headers.getall("Host", ())
        host = found[0] if len(found) == 1 else ""
        if self.public_url is not None or not (host_name(host) and self.hosts.harmless(host)):
            return self.own_url
        return f"{request.scheme}://{host}"

    def docs_url(self, request: web.BaseRequest) -> str:
        """Return where the documentation is: under the request's Host only if it opens there."""
        opens = self.hosts.local(request.headers.get("Host", "")) or not is_loopback(request.remote)
        return self.base_url(request) + _DOCS if opens else self.own_docs_url

    @property
    def local_url(self) -> str:
        """Where this machine reaches the server, which may listen on all addresses."""
        return self.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

    @property
    def own_url(self) -> str:
        """Where the server is reached when no request says how."""
        return self.public_url or self.local_url

    @property
    def own_docs_url(self) -> str:
        """Where the documentation is, whoever asks."""
        return self.own_url + _DOCS


def world_prefix(name: str) -> str:
    """Return what stands before `/v1` in a world's paths."""
    return "" if name == DEFAULT_WORLD else f"/worlds/{name}"
