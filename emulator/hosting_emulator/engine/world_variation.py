"""Sets, removes and describes the variation of one world.

The `variation` package decides what varies.
"""

from __future__ import annotations

from collections.abc import Collection

from hosting_emulator.engine.engine import Engine
from hosting_emulator.messages import VariationState
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.worlds import clear_variation, set_variation
from hosting_emulator.world.records import Variation


def vary(engine: Engine, variation: Variation, fixed_assumptions: Collection[str] = ()) -> None:
    """From now on, vary a world's responses. The assumptions in `fixed_assumptions` do not change.

    On failure, raises StoreFailed and changes nothing.
    """
    change = engine.begin_change()
    set_variation(change, variation, fixed_assumptions)
    engine.commit(change, "variation set", {"vary": variation.seed})
    engine.log.varied.clear()


def unvary(engine: Engine) -> bool:
    """Remove a world's variation, and return whether it had one. Raises StoreFailed."""
    change = engine.begin_change()
    was_varied = clear_variation(change)
    engine.commit(change, "variation removed", {"vary": None})
    return was_varied


def variation_view(engine: Engine) -> VariationState | None:
    """Return the state of a world's variation, or None if it has none.

    The state contains the seed, the points, the assumptions and the counts. `only` lists the points
    to which the variation is limited. `varied` contains the number of responses that were varied,
    by point.
    """
    variation = engine.world.variation
    if variation is None:
        return None
    varied = engine.log.varied
    return VariationState(
        seed=variation.seed,
        only=None if variation.only is None else list(variation.only),
        assumed=dict(variation.assumed),
        varied={point: varied[point] for point in POINTS if point in varied},
    )
