"""A world's clock: its settings, its state, and a move of its time."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, TypedDict

from hosting_emulator.messages.declaration import ControlMessage, doc

ClockMode: TypeAlias = Literal["real", "frozen", "scaled", "skip"]


class ClockRequest(TypedDict, total=False):
    """The new settings of a clock, as a program writes them; `rate` is world seconds per real second."""

    mode: ClockMode
    rate: float
    at: str


class ClockState(ControlMessage, frozen=True, kw_only=True):
    """A world's time, and the events that are still due."""

    mode: Annotated[ClockMode, doc("How time passes in the world.")]
    now: Annotated[str, doc("World time.")]
    rate: Annotated[float, doc("World seconds per real second, while the clock is scaled.")]
    next_due_at: Annotated[
        str | None, doc("When the first event is due; null if nothing is scheduled.")
    ]
    next_event: Annotated[
        str | None, doc("What the first due event is; null if nothing is scheduled.")
    ]
    pending: Annotated[int, doc("How many events are still due.")]


class ClockMove(ClockState, frozen=True, kw_only=True):
    """A clock after a move."""

    moved_ms: Annotated[int, doc("By how many milliseconds of world time the clock moved.")]
    events_run: Annotated[int, doc("How many due events ran on the way.")]
