"""Escapes text from clients and servers, so that it cannot control a terminal."""

from __future__ import annotations

import json
from typing import Any

from hosting_emulator_cli.output import as_json


def printable(text: str) -> str:
    """Escape the unprintable characters of a single line in Python's notation."""
    if text.isprintable():
        return text
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def printable_json(value: Any) -> str:
    """Format a value as multi-line JSON, and escape unprintable characters in JSON's notation."""
    return "".join(map(_escape_json, as_json(value)))


def _escape_json(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return json.dumps(character)[1:-1]


def printable_lines(text: str) -> str:
    """Escape the unprintable characters of a text, except its newlines. Tabs become spaces."""
    return "\n".join(printable(line.expandtabs(2)) for line in text.splitlines())
