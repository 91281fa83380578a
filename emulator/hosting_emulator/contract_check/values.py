"""Values as any service may write them: what is wrong with one, and the moment a timestamp tells.

This emulator reads and writes fewer timestamps: it has no moment before 1970, and no leap second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.resources import RESOURCES, Kind

#: What begins a complaint about a length or value that is of the right kind.
BOUNDS = "out of bounds"
#: In a redeem URL, between the origin and the ticket.
_REDEEM = "/.service/dev-access/redeem?stage=dev&ticket="
#: What has another length than a zone may is complained of for that.
_ZONE = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}|.{0,3}|.{254,}", re.DOTALL)
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
#: The states in which an operation goes on no more.
TERMINAL = {
    state
    for field in RESOURCES["Operation"].fields
    if field.name == "state"
    for state in field.kind.schema["enum"]
} - {"queued", "running"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def brief(value: Any) -> str:
    """Write a value so that it fits in a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


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


def http_date(text: str) -> int | None:
    """Read a date of an HTTP header as ms since 1970; None for anything else."""
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _minute(day: str, minute: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day}T{minute}+00:00")
    except ValueError:
        return None


# --- What is wrong with a value ------------------------------------------------------------------


def complaint(kind: Kind, value: Any) -> str | None:
    """Say what is wrong with a value of a kind; None: nothing. No secret and no ticket is shown."""
    if kind.name == "redeem_url":
        return redeem_url_complaint(value)
    if kind.name == "enum":
        words = kind.schema["enum"]
        return None if value in words else f"{brief(value)} is not one of {', '.join(words)}"
    is_right, wrong = _KINDS[kind.name]
    if not is_right(value):
        return wrong if kind.name == "secret" else f"{brief(value)} {wrong}"
    if bounds := _out_of_bounds(kind.schema, value):
        return bounds
    items = (complaint(kind.items, item) for item in value) if kind.items else ()
    return next(filter(None, items), None)


def redeem_url_complaint(value: Any) -> str | None:
    """Say what is wrong with a ticket's URL; None: nothing."""
    if not isinstance(value, str):
        return "it is not a string"
    origin, between, ticket = value.partition(_REDEEM)
    if not between or not _ORIGIN.fullmatch(origin):
        return f"it is not <origin>{_REDEEM}<ticket>"
    if len(ticket) != 43:
        return f"its ticket has {len(ticket)} characters"
    return None if _CURSOR.fullmatch(ticket) else "its ticket has other characters"


def _out_of_bounds(schema: Mapping[str, Any], value: Any) -> str | None:
    if isinstance(value, str):
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if most is not None and not least <= len(value) <= most:
            return f"{BOUNDS}: it has {len(value)} characters"
        return "it is empty" if len(value) < least else None
    if isinstance(value, list) and len(value) > schema.get("maxItems", len(value)):
        return f"{BOUNDS}: it has {len(value)} entries"
    if "minimum" in schema and not schema["minimum"] <= value <= schema.get("maximum", value):
        return f"{BOUNDS}: {brief(value)}"
    return None


def _is_uri_reference(value: Any) -> bool:
    try:
        return isinstance(value, str) and " " not in value and urlsplit(value) is not None
    except ValueError:
        return False


def _matching(pattern: re.Pattern[str]) -> Callable[[Any], object]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value)


#: What tells whether a value is of a kind, and what is wrong with it otherwise.
_KINDS: dict[str, tuple[Callable[[Any], object], str]] = {
    "text": (lambda value: isinstance(value, str), "is not a string"),
    "secret": (lambda value: isinstance(value, str) and value, "it is not text"),
    "boolean": (lambda value: isinstance(value, bool), "is not a boolean"),
    "integer": (is_integer, "is not an integer"),
    "number": (lambda value: type(value) in (int, float), "is not a number"),
    "object": (lambda value: isinstance(value, dict), "is not an object"),
    "array": (lambda value: isinstance(value, list), "is not an array"),
    "ulid": (lambda value: isinstance(value, str) and is_ulid(value), "is not a Ulid"),
    "timestamp": (is_timestamp, "is not a timestamp"),
    "zone": (_matching(_ZONE), "is not a zone of lowercase labels"),
    "cursor": (_matching(_CURSOR), "has characters other than A-Z a-z 0-9 _ -"),
    "origin": (_matching(_ORIGIN), "does not have the form of a dev origin"),
    "uri_reference": (_is_uri_reference, "is not a URI reference"),
}
