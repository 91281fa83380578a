"""Worlds whose responses vary by a seed."""

from __future__ import annotations

from typing import Any

from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator.world.value import World
from tests.support.in_process import Machine, fresh_world


def new_varied_world(
    seed: str, *points: str, mode: str = "skip", machine: Machine | None = None, **assumptions: Any
) -> World:
    """Return a default world whose responses vary at these points or, if none are given, at all points.

    The variation does not change the assumptions in `assumptions`.
    """
    world = fresh_world(mode=mode, machine=machine, **assumptions)
    return varied_world(world, read_variation(seed, points or None), assumptions)
