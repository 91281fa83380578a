"""Reads a request body slowly."""

from typing import Annotated, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind


class SlowUpload(FaultKind, frozen=True):
    """Read the request body slowly, at `bytes_per_second` bytes per real second, then handle the
    request.
    """

    example: ClassVar = {"bytes_per_second": 2000}
    stage = "upload"
    delays = True

    bytes_per_second: Annotated[int, Meta(ge=1, le=1_000_000)]

    def upload_rate(self) -> int:
        return self.bytes_per_second
