"""The windows of world time in which some kinds of faults count requests."""

from __future__ import annotations

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.world.fault_records import Fault

_LONGEST = "24h"


def check_window(window: str, *, shortest: str) -> None:
    """Raise ValueError if a window is shorter than `shortest` or longer than 24 hours."""
    if not parse_duration_ms(shortest) <= parse_duration_ms(window) <= parse_duration_ms(_LONGEST):
        raise ValueError(f"the window {window!r} is not between {shortest} and {_LONGEST}")


def current_window_ms(fault: Fault, window_ms: int, now_ms: int) -> int:
    """Return the start of the current window, in milliseconds of world time.

    Windows follow one another without gaps, and the first begins with the first request. The
    current window contains `now_ms`, unless requests have already reserved a later window.
    """
    if not fault.window_count:
        return now_ms
    passed = max(0, now_ms - fault.window_began_ms) // window_ms
    return fault.window_began_ms + passed * window_ms
