from hosting_emulator.faults.kinds import FaultKind, Wire


class EmptyResponse(FaultKind, frozen=True):
    """Close the connection without sending a byte."""

    order = 6
    silent = True
    arrives = False
    explore_order = 7

    async def send(self, wire: Wire) -> None:
        wire.close()
