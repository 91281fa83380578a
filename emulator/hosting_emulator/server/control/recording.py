"""Recording: the world that a request found, as a state in which it can be asked again."""

from __future__ import annotations

from typing import Any

from hosting_emulator.engine.request_log import Entry
from hosting_emulator.storage.documents import export_state
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.tables import CLOCK, ONLY
from hosting_emulator.world.value import apply


def state_before(entry: Entry) -> dict[str, Any]:
    """Return the state document of the world as an exchange found it, its clock standing still.

    What fell due before the exchange is still pending in it: time is to be moved on to that.
    """
    found = entry.world
    clock = clocks.start("frozen", None, found.at_ms, 0)
    still = apply(found, {CLOCK.name: {ONLY: clock}}, commit=found.commit, at_ms=found.at_ms)
    return export_state(still)
