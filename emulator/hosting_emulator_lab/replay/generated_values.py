"""Values that each server generates anew: ids, cursors, digests, secrets, and the like.

A replay pairs each recorded value with the value that the server generated instead, and puts the
new value into later requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from hosting_emulator.contract.json_values import each_text
from hosting_emulator_lab.replay.recording import REDACTED

_ULID = "[0-9A-HJKMNP-TV-Z]{26}"
#: Each kind of generated value, with the pattern that recognizes it anywhere in a text.
_PATTERNS = {
    "time": r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)",
    "request_id": rf"(?<![0-9A-Za-z])[a-z]+_{_ULID}(?![0-9A-Za-z])",
    "id": rf"(?<![0-9A-Za-z_]){_ULID}(?![0-9A-Za-z])",
    "secret": rf"{REDACTED}|(?<![\w-])(?:[a-z]{{2,8}}_)?[A-Za-z0-9_-]{{43}}(?![\w-])",
    "shortened_key": r"[a-z]{2,8}_…[\w-]{4}(?![\w-])",
    "digest": r"(?<![0-9A-Za-z])(?:sha256:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9A-Za-z])",
    "uuid": r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])",
    "dev_host": r"(?<![\w-])dev-[a-z]+-[a-z]+-[a-z]+(?![\w-])",
    "address": (r"(?<=://)(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/worlds/[a-z0-9-]+(?=/))?"),
    "port": r"(?<=\.localhost):\d+",
}
_GENERATED = re.compile("|".join(f"(?P<{kind}>{text})" for kind, text in _PATTERNS.items()))
#: The kind of a piece of text that is not generated.
PLAIN = ""


class TextPiece(NamedTuple):
    """A piece of a text with its kind: a key of `_PATTERNS`, or PLAIN."""

    kind: str
    text: str


def split_text(text: str) -> Iterator[TextPiece]:
    """Split a text into generated values and the plain text between them."""
    end = 0
    for match in _GENERATED.finditer(text):
        if match.start() > end:
            yield TextPiece(PLAIN, text[end : match.start()])
        yield TextPiece(str(match.lastgroup), match.group())
        end = match.end()
    if end < len(text):
        yield TextPiece(PLAIN, text[end:])


def without_secrets(value: Any) -> Any:
    """Return a JSON value in whose strings each secret is replaced with REDACTED."""
    return each_text(value, _redact)


def _redact(text: str) -> str:
    return "".join(REDACTED if piece.kind == "secret" else piece.text for piece in split_text(text))


class GeneratedValues(dict[str, str]):
    """The new value for each recorded value that was seen."""

    def pair(self, recorded: str, new: str) -> str | None:
        """Pair a recorded value with a new one.

        Return None, or a different value with which the recorded value is already paired.
        """
        paired = self.setdefault(recorded, new)
        if paired == new:
            return None
        return paired

    def new_value(self, recorded: str) -> str:
        """Return the new value for a recorded value, or the recorded value if it has no pair."""
        return self.get(recorded, recorded)

    def replace_in_text(self, text: str) -> str:
        """Replace the recorded values in a text with the new ones."""
        if text in self:
            return self[text]
        return _GENERATED.sub(lambda match: self.new_value(match.group()), text)

    def replace_in_target(self, target: str) -> str:
        """Replace the recorded values in a path and its query with the new ones.

        A query parameter without a recorded value keeps its encoding.
        """
        path, mark, query = target.partition("?")
        parameters = [self._replace_in_parameter(parameter) for parameter in query.split("&")]
        return self.replace_in_text(path) + mark + "&".join(parameters)

    def _replace_in_parameter(self, parameter: str) -> str:
        name, equals, encoded = parameter.partition("=")
        value = unquote(encoded)
        new_value = self.replace_in_text(value)
        if new_value == value:
            return parameter
        return f"{name}{equals}{quote(new_value, '')}"
