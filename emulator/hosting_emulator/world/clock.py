"""The world's clock, in milliseconds since 1970-01-01 UTC. World time never goes backwards."""

from __future__ import annotations

from math import isfinite
from typing import get_args

from msgspec.structs import replace

from hosting_emulator.contract.timestamps import EARLIEST_MS, LATEST_MS, format_timestamp
from hosting_emulator.messages import ClockMode
from hosting_emulator.world.records import ClockRecord

#: The time at which a frozen or skip clock starts by default. The time is fixed so that responses
#: are reproducible.
FIXED_START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
MODES = get_args(ClockMode)
#: The highest rate, in world seconds per real second.
HIGHEST_RATE = 1_000_000.0


class ClockRefused(ValueError):
    """A clock setting is invalid. The message gives the reason, and says what is allowed."""


class TimeHasPassed(ClockRefused):
    """The requested time is before the world's current time."""


def read(clock: ClockRecord, machine_ms: int) -> int:
    """Return the world time when the machine's clock reads `machine_ms`."""
    if clock.mode in ("frozen", "skip"):
        return clock.world_ms
    elapsed = max(0, machine_ms - clock.machine_ms)
    if clock.mode == "scaled":
        elapsed = int(elapsed * clock.rate)
    return min(LATEST_MS, clock.world_ms + elapsed)


def with_skew_of(clock: ClockRecord, other: ClockRecord | None) -> ClockRecord:
    """Return `clock` with the skews copied from `other`, or `clock` itself if `other` is None."""
    if other is None:
        return clock
    return replace(clock, token_skew_ms=other.token_skew_ms, date_skew_ms=other.date_skew_ms)


def start(mode: str, rate: float | None, at_ms: int | None, machine_ms: int) -> ClockRecord:
    """Return the clock of a new world. Raises ClockRefused for an invalid mode, rate or time."""
    if at_ms is None:
        at_ms = machine_ms if mode in ("real", "scaled") else FIXED_START_MS
    return _checked(mode, rate, at_ms, machine_ms)


def change(
    clock: ClockRecord,
    now_ms: int,
    machine_ms: int,
    *,
    mode: str | None = None,
    rate: float | None = None,
    at_ms: int | None = None,
) -> ClockRecord:
    """Return a clock with a changed mode, rate or time.

    A setting that is None keeps its value. Raises ClockRefused for an invalid mode, rate or time.
    """
    if at_ms is not None and at_ms < now_ms:
        raise TimeHasPassed(
            f"world time is {format_timestamp(now_ms)} and cannot go back to "
            f"{format_timestamp(at_ms)}: reset the world, or fork it from an earlier state"
        )
    if rate is None and mode in (None, "scaled") and clock.mode == "scaled":
        rate = clock.rate
    if mode is None:
        mode = clock.mode if rate is None else "scaled"
    if at_ms is None:
        at_ms = now_ms
    return _checked(mode, rate, at_ms, machine_ms)


def _checked(mode: str, rate: float | None, at_ms: int, machine_ms: int) -> ClockRecord:
    if mode not in MODES:
        raise ClockRefused(f"{mode!r} is not a clock mode: use one of {', '.join(MODES)}")
    if mode != "scaled":
        if rate is not None:
            raise ClockRefused(f"only a scaled clock has a rate; a {mode} clock has none")
        rate = 1.0
    if rate is None or not isfinite(rate) or not 0 < rate <= HIGHEST_RATE:
        raise ClockRefused(
            f"a scaled clock needs a rate above 0 and up to {HIGHEST_RATE:.0f} "
            "(world seconds per real second)"
        )
    if not EARLIEST_MS <= at_ms <= LATEST_MS:
        raise ClockRefused("world time must be between the years 1970 and 9999")
    if mode in ("frozen", "skip"):
        # These modes ignore `machine_ms`. Use a constant so that identical worlds are stored as
        # identical text.
        machine_ms = 0
    return ClockRecord(mode=mode, world_ms=at_ms, machine_ms=machine_ms, rate=rate)  # type: ignore[arg-type]
