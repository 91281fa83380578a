"""The redirect URIs to which browsers are sent after signing in or out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

from hosting_emulator.http import addresses
from hosting_emulator.http.guard import Site
from hosting_emulator.identity.oauth import OAuthRefusal

#: Networks whose addresses can never reach a host on the internet. Some other non-global addresses
#: can, such as tunnel addresses (RFC 4380).
_LOCAL_NETWORKS: Final = [
    ip_network("0.0.0.0/32"),
    ip_network("127.0.0.0/8"),
    ip_network("10.0.0.0/8"),
    ip_network("172.16.0.0/12"),
    ip_network("192.168.0.0/16"),
    ip_network("169.254.0.0/16"),
    ip_network("::1/128"),
    ip_network("fc00::/7"),
    ip_network("fe80::/10"),
]
#: The characters that RFC 3986 allows in a URI. Browsers and parsers treat other characters
#: differently.
_URI: Final = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]{1,2000}")


@dataclass(frozen=True, slots=True)
class Destination:
    """A redirect URI, and the name under which pages show it.

    A browser is redirected to a destination that is not `local` only after a page has shown the
    user this name.
    """

    uri: str
    name: str
    local: bool


def read_destination(uri: str, site: Site) -> Destination:
    """Parse a redirect URI.

    A destination is local if its host cannot be a host on the internet, or if its origin is
    allowed. Raises OAuthRefusal unless the URI is an absolute http(s) URI without a fragment, or
    the private-use URI of a native app. The scheme of a private-use URI contains a dot (RFC 8252,
    section 7.1).
    """
    parts = _split(uri)
    if parts is None or "@" in parts.netloc:
        raise OAuthRefusal(
            "The redirect_uri must be an absolute URI without a fragment or user information."
        )
    if parts.scheme not in ("http", "https"):
        if "." not in parts.scheme:
            raise OAuthRefusal(
                "The redirect_uri must use http, https, or a native app's scheme with a dot, such as "
                "com.example.app."
            )
        return Destination(uri, f"the native app {parts.scheme}", local=False)
    name = addresses.host_name(parts.netloc)
    if not name:
        raise OAuthRefusal("The redirect_uri must contain a host.")
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    local = _is_local_host(parts.netloc, name) or site.allows_origin(origin)
    return Destination(uri, origin, local)


def with_parameters(uri: str, parameters: dict[str, str], *, fragment: bool = False) -> str:
    """Return a URI with parameters added to its query.

    With `fragment`, the parameters are added as the URI's fragment instead.
    """
    separator = "?"
    if fragment:
        separator = "#"
    elif "?" in uri:
        separator = "&"
    return f"{uri}{separator}{urlencode(parameters)}"


def _split(uri: str) -> SplitResult | None:
    if not _URI.fullmatch(uri):
        return None
    try:
        return urlsplit(uri)
    except ValueError:
        return None


def _is_local_host(netloc: str, name: str) -> bool:
    """Return whether a host name or address is local, so that it cannot be a host on the internet."""
    address = addresses.address_of(name)
    if address is not None:
        return any(address in network for network in _LOCAL_NETWORKS)
    if name.endswith(addresses.RESERVED):
        return True
    if "." in name:
        return False
    # A name without dots is local, but with a trailing dot it is a top-level domain.
    is_top_level_domain = netloc.partition(":")[0] == f"{name}."
    # Browsers interpret a number such as 134744072 or 0x8080808 as an IP address.
    is_number = name.isdigit() or name.startswith("0x")
    return not (is_top_level_domain or is_number)
