"""Interventions that set the clocks of the identity provider and of the Date headers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import format_duration, parse_duration_ms
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world.tables import CLOCK, SINGLETON_KEY
from hosting_emulator.world.value import Change

#: The largest allowed difference between a clock and world time.
_LARGEST_SKEW_MS = 366 * 86_400_000


#: A duration with an optional sign, or a story variable.
Skew = Annotated[
    str,
    Meta(
        pattern=r"^([+-]?([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+|[+-]?P[0-9DTHMS.]+|.*\$\{.*)$",
        extra={"name": "a duration, such as 5m or -2h"},
    ),
]


@intervention(tokens="5m")
def skew_clock(change: Change, tokens: Skew | None = None, date: Skew | None = None) -> str:
    """The clock of the identity provider (`tokens`) or of the Date headers (`date`) is skewed.

    A skew is how far the clock is ahead of world time, such as 5m, or behind it, such as -2h. A
    skew of 0s sets the clock back to world time. If the identity provider's clock is ahead, new
    tokens are dated in the future and are not valid yet. If it is behind by more than the lifetime
    of a token, new tokens have already expired.
    """
    if tokens is None and date is None:
        raise DocumentRefused(
            "give a skew for tokens or date, such as tokens=5m or date=-10m", "tokens"
        )
    clock = change.get(CLOCK, SINGLETON_KEY) or change.world.clock
    messages = []
    if tokens is not None:
        skew_ms = _read_skew(tokens, "tokens")
        clock = replace(clock, token_skew_ms=skew_ms)
        messages.append(f"the identity provider's clock {_describe(skew_ms)}")
    if date is not None:
        skew_ms = _read_skew(date, "date")
        clock = replace(clock, date_skew_ms=skew_ms)
        messages.append(f"the clock of the Date headers {_describe(skew_ms)}")
    change.put(CLOCK, SINGLETON_KEY, clock)
    return " and ".join(messages)


def _read_skew(text: str, field: str) -> int:
    """Return a skew in milliseconds. Raises DocumentRefused if the skew is invalid or too large."""
    word = text.strip()
    try:
        skew_ms = parse_duration_ms(word.lstrip("+-") if word[:1] in ("+", "-") else word)
    except ValueError:
        raise DocumentRefused(
            f"{text!r} is not a skew: write 5m for a clock that is ahead, or -2h for a clock that is behind",
            field,
        ) from None
    if skew_ms > _LARGEST_SKEW_MS:
        raise DocumentRefused(f"the skew {field} must be at most 366 days", field)
    return -skew_ms if word.startswith("-") else skew_ms


def _describe(skew_ms: int) -> str:
    if skew_ms == 0:
        return "agrees with world time"
    direction = "ahead of" if skew_ms > 0 else "behind"
    return f"is {format_duration(abs(skew_ms))} {direction} world time"
