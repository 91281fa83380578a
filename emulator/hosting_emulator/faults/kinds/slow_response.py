"""Sends a response body slowly."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class SlowResponse(FaultKind, frozen=True):
    """Send the response body slowly, at `bytes_per_second` bytes per real second."""

    example: ClassVar = {"bytes_per_second": 2000}

    bytes_per_second: Annotated[int, Meta(ge=1, le=1_000_000)]

    def late_ms(self, body_bytes: int) -> int:
        return body_bytes * 1000 // self.bytes_per_second

    async def send(self, wire: Wire) -> None:
        await wire.send(wire.head)
        # Send ten pieces per second to keep the rate steady.
        piece = max(1, self.bytes_per_second // 10)
        for start in range(0, len(wire.body), piece):
            part = wire.body[start : start + piece]
            await wire.wait(len(part) / self.bytes_per_second)
            await wire.send(part)
        await wire.end()
