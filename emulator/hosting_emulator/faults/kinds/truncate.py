"""An answer that breaks off."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from hosting_emulator.faults.kinds import FaultKind, Wire


class Truncate(FaultKind, frozen=True):
    """Send the headers and only so many bytes of the body, all but one at most, then close."""

    order = 7
    example: ClassVar = {"bytes": 20}
    arrives = False
    explore_order = 6

    bytes: Annotated[int, Meta(ge=0, le=1_048_576)] = 0

    async def send(self, wire: Wire) -> None:
        await wire.send(wire.head + wire.body[: self._cut(len(wire.body))])
        wire.close()

    def remark(self, body_bytes: int) -> str | None:
        sent = self._cut(body_bytes)
        if sent == self.bytes:
            return None
        return f"truncate bytes={self.bytes} would have been the whole body: {sent} were sent"

    def _cut(self, body_bytes: int) -> int:
        return min(self.bytes, max(0, body_bytes - 1))

    @classmethod
    def explored(cls, detail: str, body_bytes: int) -> dict[str, Any]:
        return {"bytes": body_bytes // 2}
