from hosting_emulator.faults.kinds import FaultKind, Wire


class ConnectionReset(FaultKind, frozen=True):
    """Reset the connection (TCP RST) instead of responding."""

    sends_nothing = True
    delivers_response = False

    async def send(self, wire: Wire) -> None:
        wire.reset()
