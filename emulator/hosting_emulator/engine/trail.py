"""The trail: what one exchange leaves behind for the request log, gathered on its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hosting_emulator.world.fault_records import Effect


@dataclass(slots=True)
class Trail:
    """One exchange so far: its number and moment, who asked what, and why it went as it did."""

    number: int
    now_ms: int
    request_id: str | None = None
    call: str | None = None
    #: The ids that the path names.
    project: str | None = None
    operation: str | None = None
    principal: str | None = None
    replayed: bool = False
    #: The problem code it was answered with.
    code: str | None = None
    why: list[str] | None = None
    in_flight: str | None = None
    docs_url: Callable[[], str] | None = None
    #: What a fault does at the socket to whatever the answer is.
    breakage: Effect | None = None

    def say(self, text: str) -> None:
        """Add a decision to the explanation."""
        if self.why is None:
            self.why = []
        self.why.append(text)
