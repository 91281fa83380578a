"""Endpoints that show, start and stop the variation of a world's responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, UnsetType

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.world_variation import unvary, variation_view, vary
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    ControlRefusal,
    Example,
    refused_as,
)
from hosting_emulator.messages import (
    VariationPoint,
    VariationState,
)
from hosting_emulator.variation import points
from hosting_emulator.variation.points import POINTS, VariationRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world.records import Variation

#: The name of a variation point. The OpenAPI document lists the names of all points.
Point = Annotated[str, Meta(extra_json_schema={"enum": list(POINTS)})]


class NewVariation(Body):
    """How responses should vary. With `only`, they vary only at the variation points in this list."""

    seed: str
    only: list[Point] | None = None


def get_variation(engine: Engine) -> VariationState | None:
    """Show how a world's responses vary, or return null if they do not vary."""
    return variation_view(engine)


def put_variation(
    engine: Engine, body: Annotated[NewVariation, Example({"seed": "7", "only": ["page-size"]})]
) -> VariationState | None:
    """Start varying a world's responses. The variation continues after a reset."""
    with refused_as(400, "Variation refused", VariationRefused):
        vary(engine, read_variation(body.seed, body.only))
    return variation_view(engine)


def delete_variation(engine: Engine) -> None:
    """Stop varying a world's responses. The request succeeds even if they were not varying."""
    unvary(engine)


def list_points() -> list[VariationPoint]:
    """List the points at which responses can vary."""
    return points.list_points()


def read_variation_of_new_world(
    context: Context, seed: str | UnsetType | None, only: Sequence[str] | None
) -> Variation | None:
    """Return the variation for a new world, or None if its responses do not vary. Raises
    ControlRefusal 400.

    If `seed` is UNSET, the world gets the variation that the process uses for new worlds. If `seed`
    is None, its responses do not vary.
    """
    if isinstance(seed, str):
        with refused_as(400, "Variation refused", VariationRefused):
            return read_variation(seed, only)
    if only is not None:
        raise ControlRefusal(
            400, "Variation refused", "vary_only requires vary: set vary to a seed"
        )
    if seed is None:
        return None
    return context.facts.variation
