"""Messages about a world's clock: its settings, its state and its moves."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, TypedDict

from hosting_emulator.messages.declaration import ControlMessage, doc

ClockMode: TypeAlias = Literal["real", "frozen", "scaled", "skip"]


class ClockRequest(TypedDict, total=False):
    """The new settings of a clock. `rate` is in world seconds per real second."""

    mode: ClockMode
    rate: float
    at: str


class ClockState(ControlMessage, frozen=True, kw_only=True):
    """The state of a world's clock, with the next scheduled event."""

    mode: Annotated[ClockMode, doc("How time passes in the world.")]
    now: Annotated[str, doc("The current world time.")]
    rate: Annotated[
        float, doc("The number of world seconds per real second if the clock is scaled.")
    ]
    next_due_at: Annotated[
        str | None, doc("The world time of the next event; null if no event is scheduled.")
    ]
    next_event: Annotated[
        str | None, doc("A description of the next event; null if no event is scheduled.")
    ]
    pending: Annotated[int, doc("The number of events that are still scheduled.")]


class ClockMove(ClockState, frozen=True, kw_only=True):
    """The state of a world's clock after the clock was moved."""

    moved_ms: Annotated[int, doc("How far the clock moved, in milliseconds of world time.")]
    events_run: Annotated[int, doc("The number of due events that ran during the move.")]
