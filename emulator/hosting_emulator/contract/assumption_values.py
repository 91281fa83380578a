"""Parses the values of assumptions: profiles, retention times and rate limits."""

from __future__ import annotations

import re
from functools import lru_cache

from hosting_emulator.contract.durations import parse_duration_ms


@lru_cache(maxsize=64)
def parse_profile(text: str) -> tuple[str, int, int]:
    """Parse an operation profile. Raises ValueError if `text` is not a profile.

    Returns (`timed`, queued ms, running ms), (`per_poll`, polls, 0), or (`immediate` or `manual`,
    0, 0).
    """
    words = text.split()
    if words in (["immediate"], ["manual"]):
        return words[0], 0, 0
    if len(words) == 3 and words[0] == "timed":
        return "timed", parse_duration_ms(words[1]), parse_duration_ms(words[2])
    if len(words) == 2 and words[0] == "per_poll" and re.fullmatch("[1-9][0-9]{0,3}", words[1]):
        return "per_poll", int(words[1]), 0
    raise ValueError(
        f"{text!r} is not a profile: write `timed 2s 8s`, `immediate`, `per_poll 2` or `manual`"
    )


@lru_cache(maxsize=64)
def parse_retention_ms(text: str) -> int | None:
    """Return a retention time in milliseconds, or None for `forever`. Raises ValueError."""
    return None if text == "forever" else parse_duration_ms(text)


def parse_rate_limit(text: str) -> tuple[int, int] | None:
    """Return a rate limit as (requests, window in ms), or None for `off`. Raises ValueError."""
    if text == "off":
        return None
    count, _, window = text.partition("/")
    if re.fullmatch("[1-9][0-9]{0,8}", count) and window:
        window_ms = parse_duration_ms(window)
        if 1_000 <= window_ms <= 86_400_000:
            return int(count), window_ms
    raise ValueError(
        f"{text!r} is not a rate limit: write `off`, or requests per window such "
        "as `100/60s` (1s to 24h)"
    )
