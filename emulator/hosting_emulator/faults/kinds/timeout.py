from hosting_emulator.faults.kinds import FaultKind, Wire


class Timeout(FaultKind, frozen=True):
    """Never respond: the connection stays open until the client gives up."""

    order = 4
    silent = True
    arrives = False
    explore_order = 1

    async def send(self, wire: Wire) -> None:
        await wire.wait()
        wire.close()
