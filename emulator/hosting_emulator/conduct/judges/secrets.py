"""Judges that check where clients send tokens, keys and tickets, and in which parts of requests."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import msgspec

from hosting_emulator.calls.dev_access import REDEEM_PATH
from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.recent import Recent
from hosting_emulator.contract.calls import REDEEM_TICKET
from hosting_emulator.engine.access_tokens import AccessTokens
from hosting_emulator.engine.redaction import decodings
from hosting_emulator.world.streams import digest
from hosting_emulator.world.value import World

_TICKET = "a ticket"
#: The words that various programming languages print for a missing value.
_WORDS_FOR_NOTHING = frozenset(
    {"null", "none", "nil", "<nil>", "undefined", "nan", "[object object]"}
)
#: Matches the first part of a JWT, if two more parts follow. Other characters may precede it.
_TOKEN_HEADER = re.compile(r"(?<![\w-])[\w-]++(?=\.[\w-]++\.[\w-])")
#: Matches any string that is long enough to be one of this service's secrets. It may also be
#: something else.
_SECRET = re.compile(r"[A-Za-z0-9_-]{43,}")
_SHORTEST_SECRET = 43


class Tokens(ConductJudge):
    """Checks each request's token, whether the token has a session, and which host received the
    token.
    """

    def __init__(self) -> None:
        #: The most recent response that redirected a client to another host, by credentials and
        #: host.
        self._redirects: Recent[tuple[bytes, str], ExchangeView] = Recent()

    def after_rewind(self) -> Tokens:
        """Return this judge, because a rewind does not undo the redirects that clients received."""
        return self

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        yield from self._judge_token(exchange)
        principal = exchange.entry.principal
        spec = exchange.spec
        # Report the missing session even if the request was refused earlier, for another reason.
        if spec is not None and spec.interactive and principal and not principal.interactive:
            credentials = "an API key" if principal.api_key_id else "a token without a session"
            group = (principal.user_id, credentials)
            yield Finding(
                "key-where-session-needed", exchange, credentials=credentials, group=group
            )

    def _judge_token(self, exchange: ExchangeView) -> Iterator[Finding]:
        header = exchange.headers.get(b"authorization", b"").decode("latin-1")
        scheme, _, token = header.partition(" ")
        if scheme.lower() == "bearer" and token.strip().lower() in _WORDS_FOR_NOTHING:
            yield Finding("null-as-token", exchange, token=token.strip(), group=token)
        host = exchange.headers.get(b"host", b"").decode("latin-1")
        yield from self._judge_receiver(exchange, host, token)
        is_redirect = 300 <= exchange.status < 400 and exchange.is_received
        if is_redirect and exchange.call != REDEEM_TICKET:
            self._note_redirects(exchange, host)

    def _judge_receiver(self, exchange: ExchangeView, host: str, token: str) -> Iterator[Finding]:
        """Yield findings about a token that was sent to a host other than the API's."""
        redirect = self._redirects.get((exchange.credentials, host))
        is_dev_host = exchange.call is None and host.startswith("dev-")
        if redirect is not None:
            route = f"by following the redirect in the response to #{redirect.n}"
            exchanges = [redirect, exchange]
        elif exchange.call == REDEEM_TICKET or is_dev_host:
            route = "a dev origin"
            exchanges = [exchange]
        else:
            return
        for secret in _secrets_in(exchange.world, token):
            yield Finding(
                "token-sent-elsewhere",
                *exchanges,
                route=route,
                host=host,
                secret=secret,
                group=(host, secret),
            )

    def _note_redirects(self, exchange: ExchangeView, host: str) -> None:
        for name, value in exchange.entry.response_headers:
            if name != "Location":
                continue
            other_host = _host_of(value)
            if other_host and other_host != host:
                self._redirects.keep((exchange.credentials, other_host), exchange)


class MisplacedSecrets(ConductJudge):
    """Detects this world's secrets in URLs and in headers other than Authorization."""

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        yield from _secrets_in_url(exchange)
        for name, value in exchange.entry.raw_headers:
            header = name.decode("latin-1").lower()
            # Skip the header that may contain a token, and headers that are too short to contain a
            # secret.
            if len(value) < _SHORTEST_SECRET or header == "authorization":
                continue
            rule = "secret-in-referer" if header == "referer" else "secret-in-header"
            for secret in _secrets_in(exchange.world, _decoded(value)):
                group = (header, secret)
                yield Finding(rule, exchange, secret=secret, header=header, group=group)


def _secrets_in_url(exchange: ExchangeView) -> Iterator[Finding]:
    entry = exchange.entry
    if len(entry.path) + len(entry.query) < _SHORTEST_SECRET:
        return
    is_redemption = exchange.call == REDEEM_TICKET or entry.path == REDEEM_PATH
    target = f"{entry.path}?{entry.query}"
    for secret in _secrets_in(exchange.world, " ".join([target, *decodings(target)])):
        if not (is_redemption and secret == _TICKET):
            group = (exchange.call, secret)
            yield Finding("secret-in-url", exchange, secret=secret, group=group)


def _decoded(value: bytes) -> str:
    """Return a header's value, followed by any texts that are encoded in it."""
    text = value.decode("latin-1")
    scheme, _, encoded = text.strip().partition(" ")
    if scheme.lower() == "basic":  # user and password are encoded in base64 (RFC 7617)
        with suppress(ValueError):
            text += f" {b64decode(encoded.strip()).decode('latin-1')}"
    return " ".join([text, *decodings(text)])


def _secrets_in(world: World, text: str) -> list[str]:
    """Return which kinds of this world's secrets a text contains, each kind once."""
    key_prefix = world.assumptions.key_prefix
    kinds: dict[str, None] = {}
    # Ignore tokens that this world did not sign, because a proxy may add its own tokens.
    if any(_is_own_token(world, part) for part in _TOKEN_HEADER.findall(text)):
        kinds["an access token"] = None
    for secret in _SECRET.findall(text):
        key_value = secret.partition(key_prefix)[2]
        if key_prefix in secret and len(key_value) >= _SHORTEST_SECRET:
            kinds["an API key"] = None
        elif world.indexes.get(f"ticket:{digest(secret[-_SHORTEST_SECRET:])}"):
            kinds[_TICKET] = None
    return list(kinds)


def _is_own_token(world: World, part: str) -> bool:
    """Return whether a text ends with the first part of a token that this world signed."""
    encoded = part[part.find("eyJ") :]
    padding = "=" * (-len(encoded) % 4)
    try:
        header = msgspec.json.decode(urlsafe_b64decode(encoded + padding))
    except (ValueError, msgspec.DecodeError, RecursionError):
        return False
    if not isinstance(header, dict):
        return False
    kid = header.get("kid")
    return kid is not None and kid == AccessTokens(world.seed, world.name).kid


def _host_of(location: str) -> str:
    """Return the host in a Location header, or an empty string if there is no host in the header."""
    try:
        return urlsplit(location).netloc
    except ValueError:
        return ""
