"""Sends a body that is not JSON."""

from hosting_emulator.faults.kinds import FaultKind, Wire, cut

#: Bytes that no parser accepts, because they are not valid UTF-8 and JSON cannot begin with them.
_GARBAGE = b"\x00\xff\xfe<lkj!{[\x80"


class MalformedResponse(FaultKind, frozen=True):
    """Send the correct headers and a body of the correct length that is not JSON, then close the
    connection.
    """

    delivers_response = False

    async def send(self, wire: Wire) -> None:
        length = len(wire.body)
        if length == 0:
            await wire.send(cut(wire, 0) + _GARBAGE)
        else:
            garbage = _GARBAGE * (length // len(_GARBAGE) + 1)
            await wire.send(wire.head + garbage[:length])
        wire.close()
