"""What a server makes anew each time, told from what must be the same: the names of a record.

Ids, cursors, digests and the like are other ones in another world. Walking a recorded answer and a
new one side by side pairs them; from then on one stands for the other, in what is compared and in
what is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

_ULID = "[0-9A-HJKMNP-TV-Z]{26}"
_STAMP = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)"
#: Each kind of thing that is made anew, and how it looks wherever it stands.
_KINDS = (
    ("time", _STAMP),
    ("request id", rf"(?<![0-9A-Za-z])[a-z]+_{_ULID}(?![0-9A-Za-z])"),
    ("id", rf"(?<![0-9A-Za-z_]){_ULID}(?![0-9A-Za-z])"),
    ("secret", r"<redacted>|(?<![\w-])(?:[a-z]{2,8}_)?[A-Za-z0-9_-]{43}(?![\w-])"),
    ("shortened key", r"[a-z]{2,8}_…[\w-]{4}(?![\w-])"),
    ("digest", r"(?<![0-9A-Za-z])(?:sha256:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9A-Za-z])"),
    ("uuid", r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])"),
    ("dev host", r"(?<![\w-])dev-[a-z]+-[a-z]+-[a-z]+(?![\w-])"),
    ("place", r"(?<=://)(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/worlds/[a-z0-9-]+(?=/))?"),
    ("port", r"(?<=\.localhost):\d+"),
)
_TOKENS = re.compile("|".join(f"({pattern})" for _, pattern in _KINDS))
#: What an emulator of ours may be called at, or where it listens, says nothing about the service.
_FREE = frozenset({"place", "port"})
#: What stands in a record for a secret that was cut out of it.
CUT = "<redacted>"


class Token(NamedTuple):
    """A name found in a text: its kind, None for the plain text between two."""

    kind: str | None
    text: str


class Names:
    """Which recorded name stands for which new one."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self, recorded: str, new: str) -> str | None:
        """Pair two names; returns None, or the name that the recorded one had been paired with."""
        known = self._known.setdefault(recorded, new)
        return None if known == new else known

    def new_for(self, recorded: str) -> str:
        """Return what a recorded name is called now, itself if nobody knows."""
        return self._known.get(recorded, recorded)

    def in_text(self, text: str) -> str:
        """Put new names in place of the recorded ones in a text."""
        if text in self._known:
            return self._known[text]
        return "".join(
            self._known.get(token.text, token.text) if token.kind else token.text
            for token in tokens(text)
        )

    def in_target(self, target: str) -> str:
        """Put new names in place of the recorded ones in a path and its query."""
        path, mark, query = target.partition("?")
        return self.in_text(path) + mark + "&".join(map(self._in_field, query.split("&")))

    def _in_field(self, field: str) -> str:
        name, mark, value = field.partition("=")
        plain = unquote(value)
        named = self.in_text(plain)
        return f"{name}{mark}{value if named == plain else quote(named, safe='')}"


def tokens(text: str) -> Iterator[Token]:
    """Cut a text into names and what stands between them."""
    done = 0
    for found in _TOKENS.finditer(text):
        if found.start() > done:
            yield Token(None, text[done : found.start()])
        yield Token(_KINDS[(found.lastindex or 1) - 1][0], found.group())
        done = found.end()
    if done < len(text):
        yield Token(None, text[done:])


def alike(recorded: Token, new: Token) -> bool:
    """Whether two pieces of text may stand for each other; plain text must be the same."""
    if recorded.kind != new.kind:
        return False
    return recorded.kind is not None or recorded.text == new.text


def free(kind: str | None) -> bool:
    """Whether names of a kind say nothing about the service."""
    return kind in _FREE


def without_secrets(value: Any) -> Any:
    """Return a JSON value with the secrets cut out of its texts."""
    if isinstance(value, str):
        return "".join(CUT if token.kind == "secret" else token.text for token in tokens(value))
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    if isinstance(value, dict):
        return {name: without_secrets(item) for name, item in value.items()}
    return value
