"""What a server makes anew each time, told from what must be the same: names, and moments.

Ids, cursors, digests and the like are other ones in another world. Walking a recorded answer and a
new one side by side pairs them; from then on one stands for the other, in what is compared and in
what is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ULID = "[0-9A-HJKMNP-TV-Z]{26}"
#: Each kind of thing that is made anew, and how it looks wherever it stands.
_KINDS = {
    "time": r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)",
    "request_id": rf"(?<![0-9A-Za-z])[a-z]+_{_ULID}(?![0-9A-Za-z])",
    "id": rf"(?<![0-9A-Za-z_]){_ULID}(?![0-9A-Za-z])",
    "secret": r"<redacted>|(?<![\w-])(?:[a-z]{2,8}_)?[A-Za-z0-9_-]{43}(?![\w-])",
    "shortened_key": r"[a-z]{2,8}_…[\w-]{4}(?![\w-])",
    "digest": r"(?<![0-9A-Za-z])(?:sha256:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9A-Za-z])",
    "uuid": r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])",
    "dev_host": r"(?<![\w-])dev-[a-z]+-[a-z]+-[a-z]+(?![\w-])",
    "place": r"(?<=://)(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/worlds/[a-z0-9-]+(?=/))?",
    "port": r"(?<=\.localhost):\d+",
}
_NAMES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))
#: What an emulator of ours may be called at, or where it listens, says nothing about the service.
FREE = frozenset({"place", "port"})
#: What stands in a recording for a secret that was cut out of it.
CUT = "<redacted>"


class NameToken(NamedTuple):
    """A name in a text: its kind, None for the plain text between two."""

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
        return _NAMES.sub(lambda found: self.new_for(found.group()), text)

    def in_target(self, target: str) -> str:
        """Put new names in place of the recorded ones in a path and its query."""
        path, mark, query = target.partition("?")
        return self.in_text(path) + mark + "&".join(map(self._in_field, query.split("&")))

    def _in_field(self, field: str) -> str:
        name, mark, value = field.partition("=")
        plain = unquote(value)
        named = self.in_text(plain)
        return f"{name}{mark}{value if named == plain else quote(named, safe='')}"


def tokens(text: str) -> Iterator[NameToken]:
    """Cut a text into names and what stands between them."""
    done = 0
    for found in _NAMES.finditer(text):
        if found.start() > done:
            yield NameToken(None, text[done : found.start()])
        yield NameToken(found.lastgroup, found.group())
        done = found.end()
    if done < len(text):
        yield NameToken(None, text[done:])


def without_secrets(value: Any) -> Any:
    """Return a JSON value with the secrets cut out of its texts."""
    if isinstance(value, str):
        return "".join(CUT if token.kind == "secret" else token.text for token in tokens(value))
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    if isinstance(value, dict):
        return {name: without_secrets(item) for name, item in value.items()}
    return value


def moment_ms(text: str) -> int:
    """Read an ISO 8601 timestamp as milliseconds since 1970. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000
