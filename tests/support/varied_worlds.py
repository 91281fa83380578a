"""Worlds whose responses vary as a seed draws."""

from __future__ import annotations

from typing import Any

from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator.world.value import World
from tests.support.in_process import Machine, fresh_world


def new_varied_world(
    seed: str, *points: str, mode: str = "skip", machine: Machine | None = None, **assumptions: Any
) -> World:
    """Return a default world that varies at some points or, without any, at all of them.

    The given assumptions do not vary.
    """
    world = fresh_world(mode=mode, machine=machine, **assumptions)
    return varied_world(world, read_variation(seed, points or None), assumptions)
