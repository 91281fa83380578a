"""Delays a response."""

import math
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from hosting_emulator.faults.kinds import Chance, FaultKind

#: The maximum delay of a request, in real milliseconds: ten minutes.
LONGEST_DELAY_MS = 600_000
Delay = Annotated[int, Meta(ge=0, le=LONGEST_DELAY_MS)]


class Latency(FaultKind, frozen=True):
    """Delay the response by `delay_ms` real milliseconds.

    With `jitter_ms`, each delay is random, seeded by the world's seed. With the `uniform`
    distribution, a delay differs from `delay_ms` by at most `jitter_ms`. With `normal`, `jitter_ms`
    is the standard deviation. With `exponential`, delays are longer than `delay_ms`, on average by
    `jitter_ms`. A delay is never negative, and never longer than ten minutes.
    """

    example: ClassVar = {"delay_ms": 200, "jitter_ms": 50}
    delays = True

    delay_ms: Delay
    jitter_ms: Delay = 0
    distribution: Literal["uniform", "normal", "exponential"] = "uniform"

    def delay(self, chance: Chance) -> int:
        if not self.jitter_ms:
            return self.delay_ms
        drawn = chance()
        if self.distribution == "uniform":
            shift = 2 * drawn - 1
        elif self.distribution == "exponential":
            shift = -math.log(1 - drawn)
        else:
            # Use the Box-Muller transform to draw from a normal distribution.
            shift = math.sqrt(-2 * math.log(1 - drawn)) * math.cos(math.tau * chance())
        delay_ms = round(self.delay_ms + shift * self.jitter_ms)
        return max(0, min(LONGEST_DELAY_MS, delay_ms))
