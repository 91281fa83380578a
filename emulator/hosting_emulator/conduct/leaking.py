"""Secrets: tokens, API keys and tickets stand where they belong, and nowhere else."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

import msgspec

from hosting_emulator.calls.create_dev_access_ticket import REDEEM_PATH
from hosting_emulator.conduct.rule import CONTRACT, Finding, Judge, Rule, found
from hosting_emulator.conduct.seen import Seen, named
from hosting_emulator.engine.identity import Identity
from hosting_emulator.engine.redeeming import REDEEM_TICKET
from hosting_emulator.world.streams import digest

IN_URL = Rule(
    id="secret-in-url",
    severity="error",
    title="A token, key or ticket in a URL",
    because="Bearer tokens SHOULD NOT be passed in page URLs (for example, as query string "
    "parameters).",
    place="RFC 6750, 5.3",
    matters="URLs are written into logs, histories and Referer headers: whoever reads those can act "
    "for its owner.",
    instead="Send it in the Authorization header; open a ticket's redeem_url as it is, once.",
)
IN_REFERER = Rule(
    id="secret-in-referer",
    severity="error",
    title="A token, key or ticket in a Referer",
    because="URIs are intended to be shared, not secured, even when they identify secure resources.",
    place="RFC 9110, 17.9",
    matters="The page's own URL holds the secret, and every site it links to is told.",
    instead="Keep secrets out of page URLs, and answer pages with Referrer-Policy: no-referrer.",
)
IN_HEADER = Rule(
    id="secret-in-header",
    severity="error",
    title="A token, key or ticket in another header than Authorization",
    because="Every operation takes HTTP bearer authentication: Authorization: Bearer <token>.",
    place=f"{CONTRACT}, Authentication, 1",
    matters="Other headers are logged and passed on by proxies that keep Authorization to themselves.",
    instead="Send it in the Authorization header only.",
)

#: What may be one of this service's secrets; whether it is, is looked up.
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")
_SECRET = re.compile(r"[A-Za-z0-9_-]{43,}")
_RIGHT = frozenset({b"authorization", b"referer"})


class Leaking(Judge):
    """Secrets of this world, wherever a request carries them."""

    rules = (IN_URL, IN_REFERER, IN_HEADER)

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Look at the address, the Referer and all other headers."""
        for what in _in_url(seen):
            says = f"{named(seen)} had {what} in its URL."
            yield found(IN_URL, [seen], says, group=(seen.call, what))
        for spelled, value in seen.entry.headers:
            # Most headers are too short to hold one.
            if len(value) < 43 or (name := spelled.lower()) == b"authorization":
                continue
            rule = IN_REFERER if name == b"referer" else IN_HEADER
            for what in secrets_in(seen, _read(value.decode("latin-1"))):
                shown = name.decode("latin-1")
                says = f"{named(seen)} had {what} in the header {shown}."
                yield found(rule, [seen], says, group=(shown, what))


def _read(value: str) -> str:
    """Return a header's text; of user and password as RFC 7617 packs them, what is in them too."""
    scheme, _, packed = value.strip().partition(" ")
    if scheme.lower() != "basic":
        return value
    try:
        return f"{value} {b64decode(packed.strip()).decode('latin-1')}"
    except ValueError:
        return value


def _in_url(seen: Seen) -> Iterator[str]:
    entry = seen.entry
    if len(entry.path) + len(entry.query) < 43:
        return
    right = seen.call == REDEEM_TICKET or entry.path == REDEEM_PATH
    for what in secrets_in(seen, unquote(f"{entry.path}?{entry.query}")):
        if not (right and what == _TICKET):
            yield what


_TICKET = "a ticket"


def secrets_in(seen: Seen, text: str) -> list[str]:
    """Return what secrets of the world a text holds, each kind once."""
    world = seen.world
    kinds: dict[str, None] = {}
    if any(_is_ours(seen, token) for token in _TOKEN.findall(text)):
        kinds["an access token"] = None
    prefix = world.assumptions.key_prefix
    for secret in _SECRET.findall(text):
        if prefix in secret and len(secret.partition(prefix)[2]) >= 43:
            kinds["an API key"] = None
        elif world.indexes.get(f"ticket:{digest(secret[-43:])}"):
            kinds[_TICKET] = None
    return list(kinds)


def _is_ours(seen: Seen, token: str) -> bool:
    """Tell whether a JWT is signed with this world's key: a proxy may add tokens of its own."""
    head = token.partition(".")[0]
    try:
        header = msgspec.json.decode(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, msgspec.DecodeError):
        return False
    kid = Identity(seen.world.seed, seen.world.name).kid
    return isinstance(header, dict) and header.get("kid") == kid
