"""A response whose body is not JSON."""

from hosting_emulator.faults.kinds import FaultKind, Wire, cut

#: Bytes that are neither the beginning of JSON nor valid UTF-8, so that no parser accepts them.
_GARBAGE = b"\x00\xff\xfe<lkj!{[\x80"


class MalformedResponse(FaultKind, frozen=True):
    """Send the correct status and headers, then a body of the same length that is not JSON, and close."""

    delivers_response = False
    is_explored = True

    async def send(self, wire: Wire) -> None:
        length = len(wire.body)
        if length == 0:
            await wire.send(cut(wire, 0) + _GARBAGE)
        else:
            garbage = _GARBAGE * (length // len(_GARBAGE) + 1)
            await wire.send(wire.head + garbage[:length])
        wire.close()
