"""Sends a response in small slices."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class SlicedResponse(FaultKind, frozen=True):
    """Send the response, including the headers, in slices of `bytes` bytes, with pauses of
    `pause_ms` real milliseconds.

    Each slice is written separately, so a client may receive partial lines, headers and UTF-8
    characters.
    """

    example: ClassVar = {"bytes": 100, "pause_ms": 5}

    bytes: Annotated[int, Meta(ge=1, le=1_048_576)]
    pause_ms: Annotated[int, Meta(ge=1, le=60_000)] = 10

    def late_ms(self, body_bytes: int) -> int:
        return max(0, -(-body_bytes // self.bytes) - 1) * self.pause_ms

    async def send(self, wire: Wire) -> None:
        response = wire.head + wire.body
        for start in range(0, len(response), self.bytes):
            if start > 0:
                await wire.wait(self.pause_ms / 1000)
            await wire.send(response[start : start + self.bytes])
        await wire.end()
