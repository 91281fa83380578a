"""Values as any service may write them: what is wrong with one, and the moment a timestamp tells.

This emulator reads and writes fewer timestamps: it has no moment before 1970, and no leap second.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.resources import Kind

#: What begins a complaint about a length or value that is of the right kind.
BOUNDS = "out of bounds"
#: In a redeem URL, between the origin and the ticket.
_REDEEM = "/.service/dev-access/redeem?stage=dev&ticket="
_ZONE = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_CURSOR = re.compile("[A-Za-z0-9_-]+")
_ORIGIN = re.compile(r"https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.-]+(:[0-9]+)?")
# All of RFC 3339, which also allows a space for the T, and small letters; and ISO 8601 without the
# seconds.
_TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt ](?P<minute>([01]\d|2[0-3]):[0-5]\d)"
    r"(:(?P<second>[0-5]\d|60)([.,](?P<fraction>\d{1,30}))?)?"
    r"([Zz]|(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):?(?P<minutes>[0-5]\d)?)",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def shown(value: Any) -> str:
    """Write a value so that it fits in a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def complaint(kind: Kind, value: Any) -> str | None:
    """Say what is wrong with a value of a kind; None: nothing. No secret is shown."""
    return _COMPLAINTS[kind.name](kind, value)


def is_integer(value: Any) -> bool:
    """Whether a value is a JSON number without a fraction."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool)


def is_timestamp(value: Any) -> bool:
    """Whether a value is a date with a time of day and an offset or Z. Any year will do."""
    found = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    # The year 0000 is one, and a leap year, which `datetime` does not know.
    return found is not None and (
        _minute(found["day"].replace("0000-", "2000-", 1), found["minute"]) is not None
    )


def moment(value: Any) -> int | None:
    """Read a timestamp as ms since 1970, negative before; None for anything else.

    None too where the text is too coarse to be compared: without the seconds.
    """
    found = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if found is None or found["second"] is None:
        return None
    began = _minute(found["day"], found["minute"])
    if began is None:
        return None
    thousandths = int((found["fraction"] or "").ljust(3, "0")[:3])
    ahead = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    at_ms = (began - _EPOCH) // timedelta(milliseconds=1)
    at_ms += int(found["second"]) * 1000 + thousandths
    return at_ms - (-1 if found["sign"] == "-" else 1) * (ahead // timedelta(milliseconds=1))


def _minute(day: str, minute: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day}T{minute}+00:00")
    except ValueError:
        return None


# --- Kinds ---------------------------------------------------------------------------------------


def _unless(right: object, value: Any, wrong: str) -> str | None:
    return None if right else f"{shown(value)} {wrong}"


def _text(kind: Kind, value: Any) -> str | None:
    if not isinstance(value, str):
        return f"{shown(value)} is no string"
    least, most = kind.schema.get("minLength", 0), kind.schema.get("maxLength")
    if most is not None and not least <= len(value) <= most:
        return f"{BOUNDS}: it has {len(value)} characters"
    return "it is empty" if len(value) < least else None


def _integer(kind: Kind, value: Any) -> str | None:
    if not is_integer(value):
        return f"{shown(value)} is no integer"
    least, most = kind.schema.get("minimum", value), kind.schema.get("maximum", value)
    return None if least <= value <= most else f"{BOUNDS}: {shown(value)}"


def _number(kind: Kind, value: Any) -> str | None:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return _unless(right, value, "is no number")


def _enum(kind: Kind, value: Any) -> str | None:
    words = kind.schema["enum"]
    return _unless(value in words, value, f"is none of {', '.join(words)}")


def _array(kind: Kind, value: Any) -> str | None:
    if not isinstance(value, list):
        return f"{shown(value)} is no array"
    if len(value) > kind.schema.get("maxItems", len(value)):
        return f"{BOUNDS}: it has {len(value)} entries"
    assert kind.items is not None
    wrong = (complaint(kind.items, item) for item in value)
    return next((found for found in wrong if found), None)


def _zone(kind: Kind, value: Any) -> str | None:
    if isinstance(value, str) and (wrong := _text(kind, value)):
        return wrong
    right = isinstance(value, str) and _ZONE.fullmatch(value)
    return _unless(right, value, "is no zone of lowercase labels")


def _cursor(kind: Kind, value: Any) -> str | None:
    right = isinstance(value, str) and _CURSOR.fullmatch(value)
    return _unless(right, value, "has other characters than A-Z a-z 0-9 _ -")


def _uri_reference(kind: Kind, value: Any) -> str | None:
    try:
        right = isinstance(value, str) and " " not in value and urlsplit(value) is not None
    except ValueError:
        right = False
    return _unless(right, value, "is no URI reference")


def _origin(kind: Kind, value: Any) -> str | None:
    right = isinstance(value, str) and _ORIGIN.fullmatch(value)
    return _unless(right, value, "has not the form of a dev origin")


def redeem_url_complaint(value: Any) -> str | None:
    """Say what is wrong with a ticket's URL; None: nothing. The ticket is never shown."""
    if not isinstance(value, str):
        return "it is no string"
    origin, between, ticket = value.partition(_REDEEM)
    if not between or not _ORIGIN.fullmatch(origin):
        return f"it is not <origin>{_REDEEM}<ticket>"
    if len(ticket) != 43:
        return f"its ticket has {len(ticket)} characters"
    return None if _CURSOR.fullmatch(ticket) else "its ticket has other characters"


_COMPLAINTS: dict[str, Callable[[Kind, Any], str | None]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "enum": _enum,
    "array": _array,
    "zone": _zone,
    "cursor": _cursor,
    "uri_reference": _uri_reference,
    "origin": _origin,
    "redeem_url": lambda _, value: redeem_url_complaint(value),
    "secret": lambda _, value: None if isinstance(value, str) and value else "it is no text",
    "boolean": lambda _, value: _unless(isinstance(value, bool), value, "is no boolean"),
    "object": lambda _, value: _unless(isinstance(value, dict), value, "is no object"),
    "ulid": lambda _, value: _unless(
        isinstance(value, str) and is_ulid(value), value, "is no Ulid"
    ),
    "timestamp": lambda _, value: _unless(is_timestamp(value), value, "is no timestamp"),
}
