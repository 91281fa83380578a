"""Parses host names and web origins, and checks whether they refer to this machine."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

_HOST: Final = re.compile(
    r"([A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?|\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?"
)
_ORIGIN: Final = re.compile(r"https?://([^/?#@\\\s]+)")
#: Domains under which nobody can register a name in the public DNS (RFC 6761, RFC 8375, ICANN's
#: `internal`).
RESERVED: Final = (".localhost", ".internal", ".test", ".example", ".invalid", ".home.arpa")


def host_name(host: str) -> str:
    """Return the host name in a Host header, in lowercase and without the port or brackets.

    Returns an empty string if the header is malformed.
    """
    match = _HOST.fullmatch(host)
    if match is None:
        return ""
    name: str = match[1] or match[2] or ""
    return name.lower().rstrip(".")


@lru_cache(maxsize=256)  # each request looks up the addresses of its sender and its Host
def address_of(name: str) -> IPv4Address | IPv6Address | None:
    """Parse a name as an IP address. Return None if the name is not an IP address."""
    try:
        return ip_address(name)
    except ValueError:
        return None


def is_loopback(name: str | None) -> bool:
    """Return whether a string is a loopback IP address. Names such as `localhost` are not addresses."""
    address = address_of(name or "")
    if isinstance(address, IPv6Address):
        # A socket for both address families reports 127.0.0.1 as ::ffff:127.0.0.1.
        address = address.ipv4_mapped or address
    return address is not None and address.is_loopback


def is_this_machine(name: str) -> bool:
    """Return whether a name or an IP address refers to this machine."""
    return name == "localhost" or name.endswith(".localhost") or is_loopback(name)


def host_of_origin(origin: str) -> str:
    """Return the host name in a web origin such as `http://app.test:3000`, or "" if the origin is
    malformed.
    """
    match = _ORIGIN.fullmatch(origin)
    if match is None:
        return ""
    return host_name(match[1])
