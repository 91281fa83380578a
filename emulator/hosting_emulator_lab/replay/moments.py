"""Reads the timestamps of recordings, which any tool may have written."""

from __future__ import annotations

from datetime import UTC, datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_ms(text: str) -> int:
    """Read an ISO 8601 timestamp as milliseconds since 1970.

    A timestamp without an offset is in UTC.

    Raises ValueError if the text is not a timestamp.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{text[:80]!r} is not a timestamp: write it like 2026-01-31T09:30:00Z"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    elapsed = moment - _EPOCH
    return elapsed.days * 86_400_000 + elapsed.seconds * 1000 + elapsed.microseconds // 1000
