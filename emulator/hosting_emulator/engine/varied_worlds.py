"""Variations of live worlds: set, taken away and told, each as one commit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hosting_emulator.engine.engine import Engine
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.setting import clear_variation, set_variation
from hosting_emulator.world.records import Variation
from hosting_emulator.world.value import Change


def vary(engine: Engine, asked: Variation, kept: Collection[str] = ()) -> None:
    """Vary a world's answers from now on. Raises StoreFailed, changing nothing."""
    change = Change(engine.world, engine.settle())
    set_variation(change, asked, kept)
    engine.commit(change, "variation set")
    engine.log.varied.clear()


def unvary(engine: Engine) -> bool:
    """Answer as usual again; tell whether anything was varied. Raises StoreFailed."""
    change = Change(engine.world, engine.settle())
    found = clear_variation(change)
    engine.commit(change, "variation removed")
    return found


def variation_view(engine: Engine) -> dict[str, Any] | None:
    """Return a world's variation: seed, points it is confined to, what it assumes, what it did.

    `varied` counts the answers that varied, by point. None: the world answers as usual.
    """
    variation = engine.world.variation
    if variation is None:
        return None
    varied = engine.log.varied
    return {
        "seed": variation.seed,
        "only": None if variation.only is None else list(variation.only),
        "assumed": dict(variation.assumed),
        "varied": {point: varied[point] for point in POINTS if point in varied},
    }
