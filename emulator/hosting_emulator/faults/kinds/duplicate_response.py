from hosting_emulator.faults.kinds import FaultKind, Wire


class DuplicateResponse(FaultKind, frozen=True):
    """Send the complete response twice on one connection, as a broken proxy might."""

    async def send(self, wire: Wire) -> None:
        await wire.send((wire.head + wire.body) * 2)
        await wire.end()
