"""Kinds of values: each function says what is wrong with a value, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract_check.moments import is_timestamp

#: Says what is wrong with a value; None when it is right.
Kind = Callable[[Any], str | None]

_ZONE = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_CURSOR = re.compile("[A-Za-z0-9_-]+")
_ORIGIN = re.compile(r"https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.-]+(:[0-9]+)?")
_TICKET = re.compile("[A-Za-z0-9_-]{43}")
#: What begins a complaint about a length or value that is of the right kind.
BOUNDS = "out of bounds"
#: In a redeem URL, between the origin and the ticket.
REDEEM = "/.service/dev-access/redeem?stage=dev&ticket="


def shown(value: Any) -> str:
    """Write a value so that it fits in a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def text(value: Any) -> str | None:
    """A string."""
    return None if isinstance(value, str) else f"{shown(value)} is no string"


def filled(value: Any) -> str | None:
    """A string of at least one character."""
    return "it is empty" if value == "" else text(value)


def request_id(value: Any) -> str | None:
    """A string of 1 to 128 characters."""
    if isinstance(value, str) and not 1 <= len(value) <= 128:
        return f"{BOUNDS}: it has {len(value)} characters"
    return text(value)


def boolean(value: Any) -> str | None:
    """True or false."""
    return None if isinstance(value, bool) else f"{shown(value)} is no boolean"


def number(value: Any) -> str | None:
    """A JSON number."""
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return None if right else f"{shown(value)} is no number"


def integer(value: Any) -> str | None:
    """A JSON number without a fraction."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    right = number(value) is None and whole
    return None if right else f"{shown(value)} is no integer"


def at_least(least: int, most: int | None = None) -> Kind:
    """An integer within bounds."""

    def check(value: Any) -> str | None:
        if wrong := integer(value):
            return wrong
        right = least <= value and (most is None or value <= most)
        return None if right else f"{BOUNDS}: {shown(value)}"

    return check


def ulid(value: Any) -> str | None:
    """A Ulid."""
    right = isinstance(value, str) and is_ulid(value)
    return None if right else f"{shown(value)} is no Ulid"


def timestamp(value: Any) -> str | None:
    """A timestamp of RFC 3339 or ISO 8601, in any year."""
    return None if is_timestamp(value) else f"{shown(value)} is no timestamp"


def one_of(*words: str) -> Kind:
    """One of some words."""

    def check(value: Any) -> str | None:
        return None if value in words else f"{shown(value)} is none of {', '.join(words)}"

    return check


def each(kind: Kind, *, most: int | None = None) -> Kind:
    """An array whose items are of a kind."""

    def check(value: Any) -> str | None:
        if not isinstance(value, list):
            return f"{shown(value)} is no array"
        if most is not None and len(value) > most:
            return f"{BOUNDS}: it has {len(value)} entries"
        return next((wrong for item in value if (wrong := kind(item))), None)

    return check


def any_object(value: Any) -> str | None:
    """A JSON object, whatever it holds."""
    return None if isinstance(value, dict) else f"{shown(value)} is no object"


def zone(value: Any) -> str | None:
    """A DNS zone as the contract bounds it."""
    if isinstance(value, str) and not 4 <= len(value) <= 253:
        return f"{BOUNDS}: it has {len(value)} characters"
    right = isinstance(value, str) and _ZONE.fullmatch(value)
    return None if right else f"{shown(value)} is no zone of lowercase labels"


def cursor(value: Any) -> str | None:
    """A continuation cursor."""
    right = isinstance(value, str) and _CURSOR.fullmatch(value)
    return None if right else f"{shown(value)} has other characters than A-Z a-z 0-9 _ -"


def uri_reference(value: Any) -> str | None:
    """A URI reference."""
    try:
        right = isinstance(value, str) and " " not in value and urlsplit(value) is not None
    except ValueError:
        right = False
    return None if right else f"{shown(value)} is no URI reference"


def origin(value: Any) -> str | None:
    """The origin of a dev host."""
    right = isinstance(value, str) and _ORIGIN.fullmatch(value)
    return None if right else f"{shown(value)} has not the form of a dev origin"


def redeem_url(value: Any) -> str | None:
    """A ticket's URL; what is said never shows the ticket."""
    if not isinstance(value, str):
        return "it is no string"
    found, said, ticket = value.partition(REDEEM)
    if not said or origin(found):
        return f"it is not <origin>{REDEEM}<ticket>"
    if len(ticket) != 43:
        return f"its ticket has {len(ticket)} characters"
    return None if _TICKET.fullmatch(ticket) else "its ticket has other characters"


def secret(value: Any) -> str | None:
    """A non-empty string that is never shown."""
    return None if isinstance(value, str) and value else "it is no text"
