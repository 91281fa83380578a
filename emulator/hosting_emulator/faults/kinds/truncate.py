"""An answer that breaks off."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class Truncate(FaultKind, frozen=True):
    """Send the headers and only so many bytes of the body, then close."""

    order = 7
    example: ClassVar = {"bytes": 20}
    arrives = False
    explore_order = 6

    bytes: Annotated[int, Meta(ge=0, le=1_048_576)] = 0

    async def send(self, wire: Wire) -> None:
        await wire.send(wire.head + wire.body[: self.bytes])
        wire.close()

    @classmethod
    def explored(cls, detail: str, body_bytes: int) -> dict[str, Any]:
        return {"bytes": body_bytes // 2}
