"""No answer, ever."""

from __future__ import annotations

from hosting_emulator.faults.kinds import FaultKind, Wire


class Timeout(FaultKind, frozen=True):
    """Never answer: the connection stays open until the client gives up."""

    order = 4
    silent = True
    arrives = False
    explore_order = 1

    async def send(self, wire: Wire) -> None:
        """Wait for the client to leave."""
        await wire.wait()
        wire.close()
