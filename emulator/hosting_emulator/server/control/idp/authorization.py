"""Reading an authorization request, and judging where its answer may be sent.

A request whose `redirect_uri` cannot be trusted with an answer is answered by a page; all else that
is wrong is told to the client, at its `redirect_uri` (RFC 6749, 4.1.2.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from hosting_emulator.server.hosts import RESERVED, Origins, host_name

#: Scopes that mean something here; others are left out of what is granted.
SCOPES: Final = ("openid", "profile", "email", "offline_access")
RESPONSE_MODES: Final = ("query", "fragment")
_PROMPTS: Final = frozenset({"none", "login", "consent", "select_account"})
#: What RFC 3986 lets a URI consist of. Browsers and parsers differ on what is outside of it.
_URI: Final = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]{1,2000}")
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_LONGEST: Final = 2_000


class PageRefused(Exception):
    """A request that a page answers, since its client cannot be trusted with an answer."""


class ClientRefused(Exception):
    """A request that is refused at its client; `error` is one of OAuth's or OpenID's codes."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error, self.description = error, description


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an answer goes. Only to a `local` one it goes without a person having seen its name."""

    uri: str
    name: str
    local: bool
    mode: Literal["query", "fragment"] = "query"

    def url(self, answer: Mapping[str, str]) -> str:
        """Return the address that carries an answer to the client."""
        if self.mode == "fragment":
            return f"{self.uri}#{urlencode(answer)}"
        joint = "&" if "?" in self.uri else "?"
        return f"{self.uri}{joint}{urlencode(answer)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """An authorization request that can be answered. `max_age` in seconds of world time."""

    client_id: str
    destination: Destination
    scope: str
    challenge: str
    nonce: str | None
    prompt: frozenset[str]
    max_age: int | None
    login_hint: str
    organization: str


def read_fields(text: str) -> dict[str, str]:
    """Return the parameters of a query or form; empty ones count as left out (RFC 6749, 3.1).

    Raises PageRefused when one comes twice.
    """
    fields: dict[str, str] = {}
    try:
        pairs = parse_qsl(text, max_num_fields=100)
    except ValueError:
        raise PageRefused("The request has more than 100 parameters.") from None
    for name, value in pairs:
        if name in fields:
            raise PageRefused(f"The parameter {name[:80]} comes twice.")
        fields[name] = value
    return fields


def read_destination(fields: Mapping[str, str], origins: Origins) -> Destination:
    """Return where the answer is to be sent. Raises PageRefused when that is no good address."""
    if "client_id" not in fields or "redirect_uri" not in fields:
        raise PageRefused("The request needs client_id and redirect_uri.")
    if len(fields["client_id"]) > _LONGEST:
        raise PageRefused("The client_id is longer than 2000 characters.")
    mode: Literal["query", "fragment"] = (
        "fragment" if fields.get("response_mode") == "fragment" else "query"
    )
    return destination(fields["redirect_uri"], origins, mode)


def destination(
    uri: str, origins: Origins, mode: Literal["query", "fragment"] = "query"
) -> Destination:
    """Judge an address that a browser is to be sent to.

    Local are names and addresses that nobody on the internet can have, and the origins that were
    allowed. Raises PageRefused for what is no absolute http(s) address without a fragment and no
    private-use address of a native app (RFC 8252, 7.1: its scheme has a dot).
    """
    parts = None
    if _URI.fullmatch(uri):
        try:
            parts = urlsplit(uri)
        except ValueError:
            parts = None
    if parts is None or "@" in parts.netloc:
        raise PageRefused("The redirect_uri is no absolute address without a fragment.")
    if parts.scheme not in ("http", "https"):
        if "." not in parts.scheme:
            raise PageRefused("The redirect_uri is neither http(s) nor a native app's address.")
        return Destination(uri, f"the native app {parts.scheme}", False, mode)
    name = host_name(parts.netloc)
    if not name:
        raise PageRefused("The redirect_uri names no host.")
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    return Destination(uri, origin, _is_local(name) or origins.allows(origin), mode)


def _is_local(name: str) -> bool:
    try:
        address = ip_address(name)
    except ValueError:
        if name.endswith(RESERVED):
            return True
        # A browser reads one number, such as 134744072 or 0x8080808, as an address.
        return "." not in name and not name.isdigit() and not name.startswith("0x")
    return address.is_private or address.is_loopback or address.is_link_local


def read_authorization(fields: Mapping[str, str], to: Destination) -> AuthorizationRequest:
    """Return the whole request. Raises ClientRefused."""
    for name in ("request", "request_uri"):
        if name in fields:
            raise ClientRefused(f"{name}_not_supported", f"{name} is not supported")
    if fields.get("response_mode", "query") not in RESPONSE_MODES:
        raise ClientRefused("invalid_request", "response_mode is query or fragment")
    if fields.get("response_type") != "code":
        error = "unsupported_response_type" if "response_type" in fields else "invalid_request"
        raise ClientRefused(error, "response_type must be code")
    prompt = frozenset(fields.get("prompt", "").split())
    if not prompt <= _PROMPTS or ("none" in prompt and len(prompt) > 1):
        raise ClientRefused("invalid_request", "prompt is none, or of login consent select_account")
    scopes = fields.get("scope", "").split()
    return AuthorizationRequest(
        client_id=fields["client_id"],
        destination=to,
        scope=" ".join(scope for scope in SCOPES if scope in scopes),
        challenge=_challenge(fields),
        nonce=fields.get("nonce"),
        prompt=prompt,
        max_age=_max_age(fields.get("max_age")),
        login_hint=fields.get("login_hint", ""),
        organization=fields.get("organization", ""),
    )


def _challenge(fields: Mapping[str, str]) -> str:
    if "code_challenge" not in fields:
        raise ClientRefused("invalid_request", "code_challenge is missing: PKCE is needed")
    if fields.get("code_challenge_method", "plain") != "S256":
        raise ClientRefused("invalid_request", "code_challenge_method must be S256")
    if not _CHALLENGE.fullmatch(fields["code_challenge"]):
        raise ClientRefused("invalid_request", "code_challenge is no SHA-256 in base64url")
    return fields["code_challenge"]


def _max_age(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise ClientRefused("invalid_request", "max_age is a number of seconds")
    return int(text)
