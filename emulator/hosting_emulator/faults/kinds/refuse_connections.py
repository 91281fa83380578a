"""Refuses connections for a period of time."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class RefuseConnections(FaultKind, frozen=True):
    """Reset the connection, and refuse every new connection for `for_ms` real milliseconds.

    During this time, the emulator closes its ports, so all worlds and the control API are
    unreachable.
    """

    example: ClassVar = {"for_ms": 500}
    sends_nothing = True
    delivers_response = False

    for_ms: Annotated[int, Meta(ge=1, le=60_000)] = 500

    async def send(self, wire: Wire) -> None:
        wire.refuse(self.for_ms / 1000)
        wire.reset()
