from hosting_emulator.faults.kinds import FaultKind, Wire


class EmptyResponse(FaultKind, frozen=True):
    """Close the connection without sending a single byte."""

    sends_nothing = True
    delivers_response = False

    async def send(self, wire: Wire) -> None:
        wire.close()
