"""The messages about a world's clock: its settings, its state, and its moves."""

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
    """A world's time, and the events that are still due."""

    mode: Annotated[ClockMode, doc("How time passes in the world.")]
    now: Annotated[str, doc("World time.")]
    rate: Annotated[float, doc("World seconds per real second while the clock is scaled.")]
    next_due_at: Annotated[
        str | None, doc("When the next event is due; null if nothing is scheduled.")
    ]
    next_event: Annotated[
        str | None, doc("A description of the next event; null if nothing is scheduled.")
    ]
    pending: Annotated[int, doc("The number of events that are still due.")]


class ClockMove(ClockState, frozen=True, kw_only=True):
    """A clock after a move."""

    moved_ms: Annotated[
        int, doc("The distance that the clock moved, in milliseconds of world time.")
    ]
    events_run: Annotated[int, doc("The number of due events that ran during the move.")]
