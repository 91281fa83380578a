"""The refusal of a session that no scenario can express."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.faults.kinds import needs_running_clock


class NotRecordable(ValueError):
    """A session cannot be written as a scenario. The message says why, and what to do if that is known."""


def refuse_running_clock(kinds: Iterable[str]) -> None:
    """Raise NotRecordable if one of these kinds of faults needs a clock that runs."""
    for kind in kinds:
        if needs_running_clock(kind):
            raise NotRecordable(
                f"{kind} acts only while the clock runs, and the clock of a recorded story is frozen: "
                "record the session without this fault"
            )
