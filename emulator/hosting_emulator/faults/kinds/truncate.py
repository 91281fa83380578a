"""Ends a response body too early."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire, cut, cut_at


class Truncate(FaultKind, frozen=True):
    """Send the headers and `bytes` bytes of the body, but never the last byte, then close the
    connection.

    If the response has no body, it is truncated in its first line.
    """

    example: ClassVar = {"bytes": 20}
    delivers_response = False

    bytes: Annotated[int, Meta(ge=0, le=1_048_576)] = 0

    async def send(self, wire: Wire) -> None:
        await wire.send(cut(wire, self.bytes))
        wire.close()

    def deviation(self, body_bytes: int) -> str | None:
        sent = cut_at(self.bytes, body_bytes)
        if sent == self.bytes:
            return None
        return f"truncate bytes={self.bytes} would have sent the whole body, so {sent} were sent"
