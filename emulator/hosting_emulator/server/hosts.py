"""Host names: under which names a browser may ask this server.

A page of another site can make its own name stand for this machine's address (DNS rebinding): its
requests then look like those of this server's own pages, and only their Host gives them away. So a
name that anybody can own in the public DNS is answered only when it was allowed.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

_HOST = re.compile(
    r"([A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?"
)
#: Nobody can own a name under these in the public DNS (RFC 6761, RFC 8375, ICANN's `internal`).
RESERVED = (".localhost", ".internal", ".test", ".example", ".invalid", ".home.arpa")
#: How many names are remembered; a client uses one or two.
_REMEMBERED = 256


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
