"""Sends a Content-Length that does not match the body."""

import re
from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class WrongContentLength(FaultKind, frozen=True):
    """Send the body unchanged, with a Content-Length that is off by `by` bytes, then close the
    connection.
    """

    example: ClassVar = {"by": 10}
    delivers_response = False

    by: Annotated[int, Meta(ge=-1_048_576, le=1_048_576)] = 10

    def __post_init__(self) -> None:
        if self.by == 0:
            raise ValueError("by=0 would be the correct length")

    async def send(self, wire: Wire) -> None:
        length = len(wire.body) + self.by
        if length < 0:
            # The length cannot be negative, so deviate in the other direction instead.
            length = len(wire.body) - self.by
        header = b"Content-Length: %d\r\n" % length
        await wire.send(re.sub(rb"Content-Length: \d+\r\n", header, wire.head) + wire.body)
        wire.close()
