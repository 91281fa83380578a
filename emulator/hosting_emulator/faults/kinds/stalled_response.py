"""Pauses in the middle of a response."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.faults.kinds import FaultKind, Wire, cut
from hosting_emulator.faults.kinds.latency import LONGEST_DELAY_MS

_LONGEST_WORLD_PAUSE_MS = 365 * 86_400_000


class StalledResponse(FaultKind, frozen=True):
    """Send the headers and `bytes` bytes of the body (default: half), pause, then send the rest.

    The pause lasts `pause_ms` real milliseconds, or `world_pause` in world time. With a frozen
    clock, a `world_pause` lasts until you move the clock. A skip clock is moved automatically.
    """

    example: ClassVar = {"pause_ms": 300}

    bytes: Annotated[int, Meta(ge=0, le=1_048_576)] | None = None
    pause_ms: Annotated[int, Meta(ge=1, le=LONGEST_DELAY_MS)] | None = None
    world_pause: Duration | None = None

    def __post_init__(self) -> None:
        if (self.pause_ms is None) == (self.world_pause is None):
            raise ValueError(
                "the pause must be either pause_ms (real milliseconds) or world_pause (world time, "
                "such as 30s)"
            )
        if self.world_pause is None:
            return
        if not 1 <= self.world_pause_ms() <= _LONGEST_WORLD_PAUSE_MS:
            raise ValueError(f"{self.world_pause!r} is not between 1ms and 365d")

    def world_pause_ms(self) -> int:
        return 0 if self.world_pause is None else parse_duration_ms(self.world_pause)

    def late_ms(self, body_bytes: int) -> int:
        return self.pause_ms or 0

    async def send(self, wire: Wire) -> None:
        length = len(wire.body) // 2 if self.bytes is None else self.bytes
        first = cut(wire, length)
        await wire.send(first)
        if self.pause_ms is None:
            await wire.wait_for_world_time(self.world_pause_ms())
        else:
            await wire.wait(self.pause_ms / 1000)
        await wire.send((wire.head + wire.body)[len(first) :])
        await wire.end()
