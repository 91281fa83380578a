"""Refuses connections for a period of time."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class RefuseConnections(FaultKind, frozen=True):
    """Reset the connection, and refuse every new connection for `for_ms` real milliseconds.

    During this time, the emulator closes its ports, so no world can be reached over a new
    connection, and neither can the control API. Other connections that are already open stay open.
    """

    example: ClassVar = {"for_ms": 500}
    sends_nothing = True
    delivers_response = False

    for_ms: Annotated[int, Meta(ge=1, le=60_000)] = 500

    async def send(self, wire: Wire) -> None:
        wire.refuse(self.for_ms / 1000)
        wire.reset()
