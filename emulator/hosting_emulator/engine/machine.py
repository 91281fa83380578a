"""The machine's clock: the one place where the core learns what time it really is."""

from __future__ import annotations

import time
from collections.abc import Callable


def machine_ms(read: Callable[[], int] = time.time_ns) -> int:
    """Return the machine's time in whole milliseconds since 1970.

    `read` is looked up once: a test library that puts another clock in place of a process's own
    (freezegun) does not reach the emulator that runs in it.
    """
    return read() // 1_000_000


#: Returns nanoseconds on a clock that only measures how long something took.
stopwatch_ns = time.perf_counter_ns
