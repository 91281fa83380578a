"""Stable names for ids, tokens, hashes and cursors, so that a golden file can be read.

A value is named where it first appears, after the field that holds it: `{shop}`, `{operation-1}`,
`{token-owner}`. A golden file of the names keeps the values, so nothing is lost.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

_ULID = r"[0-9A-HJKMNP-TV-Z]{26}"
_JWT = r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*"
_WORD = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_JWT}|(?:req_)?{_ULID}|(?:[0-9a-f]{{32}}){{1,2}}|[0-9a-f]{{40}})(?![A-Za-z0-9])"
)
_TICKET = re.compile(r"(?<=ticket=)[\w-]{43}")
#: The host of a world contains the name of the world, except that of the default world.
_WORLD_HOST = re.compile(r"(https://[a-z0-9]+)(?:\.[a-z-]+)?(\.prod\.localhost)")
#: Fields that hold an opaque text of their own form, and what it is.
_OPAQUE_FIELDS = {"next_cursor": "cursor", "value": "secret", "access_token": "token"}
_OPAQUE = re.compile(r"(?=.*[A-Z0-9])[\w-]{16,}")
#: One name for all request ids: responses that differ only in their request id are equal.
_REQUEST_ID = "{request-id}"
_OPAQUE_WORD = re.compile(r"(?<![\w-])[\w-]{16,}")
#: What the fields of an object say about its id.
_KIND_OF_OBJECT = (
    ("obfuscated_value", "key"),
    ("commit_sha", "deployment"),
    ("step", "operation"),
    ("progress", "operation"),
    ("kind", "operation"),
    ("state", "operation"),
)
_KIND_OF_FIELD = {
    "blocking_operation": "operation",
    "claim": "operation",
    "commit_sha": "commit",
    "dev_environment": "environment",
    "next_waiting": "operation",
    "queue_head": "operation",
    "queue_tail": "operation",
    "waits_for": "operation",
}


class Names:
    """The names of one part of the record."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        #: Texts that were read, with names in the place of values.
        self._replaced: dict[str, str] = {}

    def copy(self) -> Names:
        """Return a copy, to which names can be added independently."""
        names = Names()
        names.values = self.values.copy()
        names._names = self._names.copy()
        names._counts = self._counts.copy()
        return names

    def add(self, value: str, name: str) -> None:
        """Name a value, unless it has a name."""
        if value not in self._names and name not in self.values:
            self._names[value] = name
            self.values[name] = value

    def collect(self, value: Any) -> None:
        """Name what a JSON document holds, after its fields."""
        if isinstance(value, dict):
            for field, item in value.items():
                if isinstance(item, str):
                    self._collect_field(value, field, item)
            for item in value.values():
                self.collect(item)
        elif isinstance(value, list):
            for item in value:
                self.collect(item)

    def _collect_field(self, document: Mapping[str, Any], field: str, value: str) -> None:
        if field in _OPAQUE_FIELDS and _OPAQUE.fullmatch(value):
            self._number(_OPAQUE_FIELDS[field], value)
        elif _WORD.fullmatch(value):
            if field == "id" and isinstance(document.get("alias"), str):
                self.add(value, f"{{{document['alias']}}}")
            self._number(_kind(document, field), value)

    def _number(self, kind: str, value: str) -> str:
        if kind == "request":
            self._names[value] = _REQUEST_ID
        if value not in self._names:
            self._counts[kind] += 1
            self.add(value, f"{{{kind}-{self._counts[kind]}}}")
        return self._names[value]

    def replace_in(self, value: Any) -> Any:
        """Return a JSON document with names in the place of values, in its fields too."""
        if isinstance(value, str):
            return self.replace(value)
        if isinstance(value, list):
            return [self.replace_in(item) for item in value]
        if isinstance(value, dict):
            return {self.replace(field): self.replace_in(item) for field, item in value.items()}
        return value

    def replace(self, text: str) -> str:
        """Return a text with names in the place of values."""
        if text in self._names:
            return self._names[text]
        if len(text) < 16:
            return text
        if text not in self._replaced:
            self._replaced[text] = self._replace_parts(text)
        return self._replaced[text]

    def _replace_parts(self, text: str) -> str:
        text = _WORLD_HOST.sub(r"\1{.world}\2", text)
        text = _TICKET.sub(lambda match: self._number("ticket-secret", match[0]), text)
        text = _WORD.sub(lambda match: self._number(_kind_of_text(match[0]), match[0]), text)
        return _OPAQUE_WORD.sub(self._replace_opaque, text)

    def _replace_opaque(self, match: re.Match[str]) -> str:
        return self._names.get(match[0], match[0])

    def lines(self) -> list[str]:
        """Return a line for each name, with its value."""
        return [f"{name} = {_readable(value)}" for name, value in self.values.items()]


def _kind(document: Mapping[str, Any], field: str) -> str:
    if field == "id":
        return next((kind for key, kind in _KIND_OF_OBJECT if key in document), "id")
    name = field.removesuffix("_id")
    return _KIND_OF_FIELD.get(name, name).replace("_", "-")


def _kind_of_text(text: str) -> str:
    if text.startswith("eyJ"):
        return "token"
    if text.startswith("req_"):
        return "request"
    return "id" if len(text) == 26 else "hash"


def _readable(value: str) -> str:
    """Return a JWT as its header and claims (tests of tokens check the signature)."""
    if not value.startswith("eyJ"):
        return value
    parts = (base64.urlsafe_b64decode(part + "==") for part in value.split(".")[:2])
    return " ".join(json.dumps(json.loads(part)) for part in parts)
