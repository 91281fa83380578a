"""The machine's clocks. No other module in the engine reads them."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Returns the reading, in nanoseconds, of a clock that is suitable only for measuring durations.
stopwatch_ns = time.perf_counter_ns


def machine_ms(read: Callable[[], int] = time.time_ns) -> int:
    """Return the machine's time in whole milliseconds since 1970.

    `read` is bound when this module is imported. A test library that replaces the process's clock,
    such as freezegun, therefore does not affect the time of an emulator in the same process.
    """
    return read() // 1_000_000
