"""Converts timestamps between RFC 3339 strings, used in messages, and milliseconds since 1970, used
internally.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal

TimestampForm = Literal["milliseconds", "microseconds", "offset"]

# `fromisoformat` also accepts ISO 8601 forms that RFC 3339 does not allow, such as week dates, so
# check the form first.
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,30})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The earliest time that a world can have: 1970-01-01T00:00:00Z.
EARLIEST_MS = 0
#: The latest time in milliseconds that RFC 3339 can express: 9999-12-31T23:59:59.999Z.
LATEST_MS = 253_402_300_799_999
_YEAR_1_MS = -62_135_596_800_000


def format_timestamp(at_ms: int) -> str:
    """Format a time in the form used in records: in UTC, with milliseconds and `Z`.

    A time outside the years 1 to 9999 is replaced by the nearest time within them.
    """
    seconds, ms = divmod(min(max(at_ms, _YEAR_1_MS), LATEST_MS), 1000)
    return f"{_second(seconds)}.{ms:03d}Z"


def respell_timestamp(text: str, form: TimestampForm) -> str:
    """Rewrite a stored timestamp in a different RFC 3339 form that denotes the same time."""
    return text[:-1] + {"milliseconds": "Z", "microseconds": "000Z", "offset": "+00:00"}[form]


def parse_timestamp(text: str) -> int:
    """Parse an RFC 3339 timestamp, and return it as milliseconds since 1970.

    Raises ValueError if `text` is not in that form, or is outside the years 1970 to 9999.
    """
    try:
        moment = datetime.fromisoformat(text.upper()) if _RFC_3339.fullmatch(text) else None
    except ValueError:
        moment = None
    if moment is None:
        raise ValueError(
            f"{text!r} is not a timestamp: write it like 2026-01-31T09:30:00Z (with Z or an offset)"
        )
    at_ms = (moment - _EPOCH) // timedelta(milliseconds=1)
    if not EARLIEST_MS <= at_ms <= LATEST_MS:
        raise ValueError(f"{text!r} is outside the years 1970 to 9999")
    return at_ms


# Cache the results, because most timestamps in a run fall within the same few seconds.
@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
