"""Durations in the forms in which users write them: `500ms`, `90s`, `10m`, `1h30m`, `90d`, `PT10M`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

#: The types of durations and times in users' documents. In error messages, `name` describes the
#: expected type.
Duration = Annotated[str, Meta(extra={"name": "a duration, such as 5s"})]
Moment = Annotated[
    str, Meta(extra={"name": "a timestamp such as 2026-01-31T09:30:00Z, or a duration such as 5s"})
]

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")
_HUMAN = re.compile(r"(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)\s*)+")
_ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?"
    r"(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)
#: The longest allowed duration: a thousand years, in milliseconds. Anything longer must be a
#: mistake, and a much longer duration would exceed the range of timestamps.
LONGEST_MS = 365_000 * 86_400_000


@lru_cache(maxsize=64)
def parse_duration_ms(text: str) -> int:
    """Parse a duration of at most a thousand years, and return it in milliseconds.

    Raises ValueError if `text` is not a duration or is too long.
    """
    word = text.strip()
    parts = None
    if len(word) <= 64:
        iso = _ISO.fullmatch(word.upper())
        if _HUMAN.fullmatch(word.lower()):
            parts = [(unit, number) for number, unit in _PART.findall(word.lower())]
        elif iso and any(iso.groupdict().values()) and not word.upper().endswith("T"):
            parts = [(unit, number) for unit, number in iso.groupdict().items() if number]
    if parts is None:
        raise ValueError(
            f"{text!r} is not a duration: write it like 500ms, 90s, 10m, 1h30m, 90d or PT10M"
        )
    total = round(sum(float(number) * _UNITS_MS[unit] for unit, number in parts))
    if total > LONGEST_MS:
        raise ValueError(f"{text!r} is longer than a thousand years")
    return total


def format_duration(ms: int) -> str:
    """Format a number of milliseconds in the short form, such as `1h30m`, `1.25s`, `250ms` or `0s`."""
    if 0 < ms < 1000:
        return f"{ms}ms"
    parts: list[str] = []
    for unit in ("d", "h", "m"):
        count, ms = divmod(ms, _UNITS_MS[unit])
        if count:
            parts.append(f"{count}{unit}")
    if ms:
        parts.append(f"{ms / 1000:.3f}".rstrip("0").rstrip(".") + "s")
    return "".join(parts) or "0s"


def whole_seconds(ms: int) -> int:
    """Return a time or a duration in seconds, rounded up to a whole number.

    The times in a token are in seconds. A token's expiry is rounded up, so that the token never
    expires before its lifetime has passed.
    """
    return -(-ms // 1000)
