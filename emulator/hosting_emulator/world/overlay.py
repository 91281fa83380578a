"""An overlay: another clock and other assumptions, laid over a world that is only beginning.

What the world's origin says stays, so a reset returns to the world's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting_emulator.world import clock as clocks
from hosting_emulator.world.tables import ASSUMPTIONS, CLOCK, ONLY
from hosting_emulator.world.value import World, apply


def laid_over(
    world: World,
    machine_ms: int,
    *,
    mode: str | None = None,
    rate: float | None = None,
    assumptions: Mapping[str, Any],
) -> World:
    """Return a world with a clock of this mode, from where its own begins, and some assumptions changed.

    Without a mode the clock stays. Raises ClockRefused, AssumptionRefused.
    """
    writes: dict[str, dict[str, Any]] = {}
    if mode is not None:
        writes[CLOCK.name] = {ONLY: clocks.start(mode, rate, world.clock.world_ms, machine_ms)}
    if assumptions:
        writes[ASSUMPTIONS.name] = {ONLY: world.assumptions.changed(assumptions)}
    return apply(world, writes, commit=world.commit, at_ms=world.at_ms) if writes else world
