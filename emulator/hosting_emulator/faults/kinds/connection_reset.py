from hosting_emulator.faults.kinds import FaultKind, Wire


class ConnectionReset(FaultKind, frozen=True):
    """Reset the connection (TCP RST) instead of responding."""

    order = 5
    silent = True
    arrives = False
    explore_order = 4

    async def send(self, wire: Wire) -> None:
        wire.reset()
