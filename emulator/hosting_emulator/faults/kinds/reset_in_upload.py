"""Resets the connection in the middle of the request body."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class ResetInUpload(FaultKind, frozen=True):
    """Read `bytes` bytes of the request body, but never the last byte, then reset the connection
    (TCP RST).

    The request is not applied. A client that sends the body in one piece does not notice the reset
    until it has sent the whole body.
    """

    example: ClassVar = {"bytes": 10}
    stage = "upload"
    sends_nothing = True
    delivers_response = False

    bytes: Annotated[int, Meta(ge=0, le=1_048_576)] = 0

    def upload_bytes(self) -> int:
        return self.bytes

    async def send(self, wire: Wire) -> None:
        wire.reset()
