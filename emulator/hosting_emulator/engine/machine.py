"""The machine's clock: the one place where the core learns what time it really is."""

from __future__ import annotations

import time


def machine_ms() -> int:
    """Return the machine's time in whole milliseconds since 1970."""
    return time.time_ns() // 1_000_000


#: Returns nanoseconds on a clock that only measures how long something took.
stopwatch_ns = time.perf_counter_ns
