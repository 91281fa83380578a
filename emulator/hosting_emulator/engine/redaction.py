"""Redaction: what the request log shows of headers and bodies, without the secrets in them.

Secrets of this service are access tokens, values of API keys and tickets; each is cut out wherever
it stands, for clients put them in odd places and the log must not spread them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

REDACTED = "<redacted>"
_SECRET_HEADERS = frozenset({"cookie", "set-cookie", "x-control-token"})
_TOKEN_HEADERS = frozenset({"authorization", "proxy-authorization"})
#: A signed JWT; a ticket in a URL; the value of a new API key, which is shown once; and whatever
#: has the form of this service's secrets (`world.streams.new_secret`), wherever it was put.
_SECRETS = re.compile(
    r"eyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=ticket=)[^&\s\"]+|(?<=\"value\":\")[^\"]+(?=\",\"request_id\")"
    r"|(?<![\w-])(?:phk_)?[A-Za-z0-9_-]{43}(?![\w-])"
)


class Redactor:
    """Cuts the secrets of one world out of text; `key_prefix` is how its API keys begin."""

    def __init__(self, key_prefix: str) -> None:
        self._key = re.compile(re.escape(key_prefix) + r"[\w-]{20,}") if key_prefix else None

    def text(self, found: str) -> str:
        """Return a text without secrets, and fit to be written as JSON whatever bytes came."""
        found = found.encode("utf-8", "backslashreplace").decode()
        found = _SECRETS.sub(REDACTED, found)
        return found if self._key is None else self._key.sub(REDACTED, found)

    def body(self, body: bytes) -> str | None:
        """Return a body as text without secrets; None when it is no text."""
        try:
            return self.text(body.decode())
        except UnicodeDecodeError:
            return None

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[Sequence[str]]:
        """Return headers without secrets; of an Authorization header its scheme is left."""
        return [(name, self._value(name.lower(), value)) for name, value in headers]

    def _value(self, name: str, value: str) -> str:
        if name in _SECRET_HEADERS:
            return REDACTED
        if name in _TOKEN_HEADERS:
            scheme, space, _ = value.strip().partition(" ")
            return f"{scheme} {REDACTED}" if space else REDACTED
        return self.text(value)
