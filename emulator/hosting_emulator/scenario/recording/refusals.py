"""The exception for a session that a scenario cannot express."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.faults.kinds import needs_running_clock


class NotRecordable(ValueError):
    """A session cannot be recorded as a scenario.

    The message gives the reason and, if there is a remedy, what to do.
    """


def refuse_running_clock(kinds: Iterable[str]) -> None:
    """Raise NotRecordable if a fault of one of these kinds needs a running clock."""
    for kind in kinds:
        if needs_running_clock(kind):
            raise NotRecordable(
                f"{kind} acts only while the clock runs, but the clock of a recorded story is frozen: "
                "record the session without this fault"
            )
