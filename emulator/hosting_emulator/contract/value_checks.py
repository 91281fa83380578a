"""Checks whether the contract allows a value in a response, whether from the emulator or from
another service.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.contract.fields import Kind
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.resources import RESOURCES

#: The beginning of a complaint about a value of the right kind, but with a wrong length or size.
BOUNDS = "out of bounds"
_REDEEM = "/.service/dev-access/redeem?stage=dev&ticket="
#: The length of a zone is checked separately, so this also matches strings that are too short or
#: too long.
_ZONE = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}|.{0,3}|.{254,}", re.DOTALL)
_CURSOR = re.compile("[A-Za-z0-9_-]+")
_ORIGIN = re.compile(r"https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.-]+(:[0-9]+)?")
# Timestamps according to RFC 3339, which allows lowercase letters, and a space instead of the T. As
# in ISO 8601, the seconds and the minutes and colon of the offset can be missing, and the fraction
# can follow a comma. The emulator's own parser is stricter, and does not accept times before 1970
# or leap seconds.
_TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt ](?P<minute>([01]\d|2[0-3]):[0-5]\d)"
    r"(:(?P<second>[0-5]\d|60)([.,](?P<fraction>\d{1,30}))?)?"
    r"([Zz]|(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):?(?P<minutes>[0-5]\d)?)",
    re.ASCII,
)


def brief(value: Any) -> str:
    """Return a value's repr, truncated to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def is_integer(value: Any) -> bool:
    """Return whether a value is a JSON number without a fraction."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool)


def is_timestamp(value: Any) -> bool:
    """Return whether a value is a date and time with an offset or Z. Any year is valid."""
    match = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    # RFC 3339 allows the leap year 0000, but `datetime` does not, so replace it with another leap
    # year.
    day = match["day"].replace("0000-", "2000-", 1) if match else ""
    return match is not None and _minute(day, match["minute"]) is not None


def moment(value: Any) -> int | None:
    """Return a timestamp in milliseconds since 1970.

    Return None if `value` is not a timestamp, or if its seconds are missing.
    """
    match = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    began = _minute(match["day"], match["minute"]) if match else None
    if match is None or began is None or match["second"] is None:
        return None
    ahead_s = int(match["hours"] or 0) * 3600 + int(match["minutes"] or 0) * 60
    at_s = began + int(match["second"]) - (-1 if match["sign"] == "-" else 1) * ahead_s
    return at_s * 1000 + int((match["fraction"] or "").ljust(3, "0")[:3])


def _minute(day: str, minute: str) -> int | None:
    try:
        return int(datetime.fromisoformat(f"{day}T{minute}+00:00").timestamp())
    except ValueError:
        return None


def complaint(kind: Kind, value: Any) -> str | None:
    """Return a complaint if a value is not of the given kind, or None if it is.

    The complaint never shows a secret or a ticket.
    """
    schema = kind.schema
    if kind.name == "redeem_url":
        return redeem_url_complaint(value)
    if kind.name == "enum":
        words = schema["enum"]
        return None if value in words else f"{brief(value)} is not one of {', '.join(words)}"
    is_right, mistake = _KINDS[kind.name]
    if not is_right(value):
        return mistake if kind.name == "secret" else f"{brief(value)} {mistake}"
    if isinstance(value, str):
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if most is not None and not least <= len(value) <= most:
            return f"{BOUNDS}: the string has {len(value)} characters"
        return "it is empty" if len(value) < least else None
    if isinstance(value, list) and len(value) > schema.get("maxItems", len(value)):
        return f"{BOUNDS}: the array has {len(value)} entries"
    if "minimum" in schema and not schema["minimum"] <= value <= schema.get("maximum", value):
        return f"{BOUNDS}: {brief(value)}"
    items = (complaint(kind.items, item) for item in value) if kind.items else ()
    return next(filter(None, items), None)


def redeem_url_complaint(value: Any) -> str | None:
    """Return a complaint about a ticket's redeem_url, or None if it is correct."""
    if not isinstance(value, str):
        return "the URL is not a string"
    origin, between, ticket = value.partition(_REDEEM)
    if not between or not _ORIGIN.fullmatch(origin):
        return f"the URL does not have the form <origin>{_REDEEM}<ticket>"
    if len(ticket) != 43:
        return f"the ticket has {len(ticket)} characters instead of 43"
    return None if _CURSOR.fullmatch(ticket) else "the ticket has invalid characters"


def _is_uri_reference(value: Any) -> bool:
    try:
        return isinstance(value, str) and " " not in value and urlsplit(value) is not None
    except ValueError:
        return False


def _matching(pattern: re.Pattern[str]) -> Callable[[Any], object]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value)


#: For each kind, a check and the complaint about values that fail it.
_KINDS: dict[str, tuple[Callable[[Any], object], str]] = {
    "text": (lambda value: isinstance(value, str), "is not a string"),
    "secret": (
        lambda value: isinstance(value, str) and value,
        "the value must be a non-empty string",
    ),
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


# --- Credentials -----------------------------------------------------------------------------------

#: Recognizable credentials: a password in a URL, a JWT, or a private key.
_SECRET = re.compile(
    r"://[^/\s:@]+:[^/\s@]+@|\beyJ[\w-]{8,}\.[\w-]+\.|-----BEGIN [A-Z ]*PRIVATE KEY"
)
#: Member names that suggest a credential, and names that suggest a provider's identifier.
_CREDENTIAL = re.compile(
    r"secret|password|credential|private_?key|(access|auth|api)_?(token|key)", re.I
)
_IDENTIFIER = re.compile(r"token|provider|(^|_)(id|arn)$", re.I)
_PROVIDER = re.compile(r"provider\w*_(id|arn)$", re.I)
#: The members in which the contract intends credentials to be returned to the client.
_HANDED_OUT = ("value", "redeem_url")
_FIELD_NAMES = {field.name for resource in RESOURCES.values() for field in resource.fields}


def credential_complaint(name: str, value: Any) -> str | None:
    """Return a complaint if a member looks like a credential, and otherwise None."""
    if isinstance(value, str) and _SECRET.search(value) and name not in _HANDED_OUT:
        return f"{name} contains a credential"
    if not _is_harmless(name, value) and _CREDENTIAL.search(name):
        return f"{name} looks like a credential"
    return None


def identifier_complaint(name: str, value: Any, *, shows_none: bool) -> str | None:
    """Return a complaint if a member looks like a provider's identifier, and otherwise None.

    `shows_none` is true if the contract forbids provider identifiers in this response.
    """
    if _is_harmless(name, value) or is_ulid(str(value)):
        return None
    names = _IDENTIFIER if shows_none else _PROVIDER
    return f"{name} looks like a provider's identifier" if names.search(name) else None


def _is_harmless(name: str, value: Any) -> bool:
    return name in _FIELD_NAMES or isinstance(value, bool) or not value


def members_of(document: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each scalar value in a document, with the name of its member."""
    if isinstance(document, dict):
        for inner_name, value in document.items():
            yield from members_of(value, inner_name)
    elif isinstance(document, list):
        for value in document:
            yield from members_of(value, name)
    else:
        yield name, document
