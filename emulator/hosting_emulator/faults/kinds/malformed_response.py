"""An answer that cannot be read."""

from hosting_emulator.faults.kinds import FaultKind, Wire, cut

#: Bytes that begin no JSON and are no UTF-8, so that no parser takes them for an answer.
_GARBAGE = b"\x00\xff\xfe<lkj!{[\x80"


class MalformedResponse(FaultKind, frozen=True):
    """Send the correct status and headers, then bytes of that length that are not JSON, and close."""

    order = 8
    arrives = False
    explore_order = 8

    async def send(self, wire: Wire) -> None:
        length = len(wire.body)
        garbage = _GARBAGE * (length // len(_GARBAGE) + 1)
        await wire.send(wire.head + garbage[:length] if length else cut(wire, 0) + garbage)
        wire.close()
