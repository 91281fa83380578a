from hosting_emulator.faults.kinds import FaultKind, Wire


class Timeout(FaultKind, frozen=True):
    """Never respond, and keep the connection open until the client gives up."""

    sends_nothing = True
    delivers_response = False

    async def send(self, wire: Wire) -> None:
        await wire.wait()
        wire.close()
