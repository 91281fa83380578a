"""Resets the connection in the middle of the response body."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire, cut


class ResetInBody(FaultKind, frozen=True):
    """Send the headers and `bytes` bytes of the body, but never the last byte, then reset the
    connection (TCP RST).

    If the response has no body, it is cut off in its first line.
    """

    example: ClassVar = {"bytes": 20}
    delivers_response = False

    bytes: Annotated[int, Meta(ge=0, le=1_048_576)] = 20

    async def send(self, wire: Wire) -> None:
        await wire.send(cut(wire, self.bytes))
        wire.reset()
