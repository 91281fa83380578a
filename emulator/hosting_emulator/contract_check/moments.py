"""Timestamps as any service may write them: all of RFC 3339, and ISO 8601 without the seconds.

This emulator reads and writes fewer: it has no moment before 1970, and no leap second.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

# RFC 3339 also allows a space for the T, and small letters.
_TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt ](?P<minute>([01]\d|2[0-3]):[0-5]\d)"
    r"(:(?P<second>[0-5]\d|60)([.,](?P<fraction>\d{1,30}))?)?"
    r"([Zz]|(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):?(?P<minutes>[0-5]\d)?)",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_timestamp(value: Any) -> bool:
    """Whether a value is a date with a time of day and an offset or Z. Any year will do."""
    found = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return False
    # The year 0000 is one, and a leap year, which `datetime` does not know.
    day = found["day"].replace("0000-", "2000-", 1)
    return _read(day, found["minute"]) is not None


def moment(value: Any) -> int | None:
    """Read a timestamp as ms since 1970, negative before; None for anything else.

    None too where the text is too coarse to be compared: without the seconds.
    """
    found = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if found is None or found["second"] is None:
        return None
    began = _read(found["day"], found["minute"])
    if began is None:
        return None
    thousandths = int((found["fraction"] or "").ljust(3, "0")[:3])
    ahead = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    at_ms = (began - _EPOCH) // timedelta(milliseconds=1)
    at_ms += int(found["second"]) * 1000 + thousandths
    return at_ms - (-1 if found["sign"] == "-" else 1) * (ahead // timedelta(milliseconds=1))


def _read(day: str, minute: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day}T{minute}+00:00")
    except ValueError:
        return None
