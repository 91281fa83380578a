"""Control of a world's variation: set it, show it, take it away; and what points there are."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from aiohttp import web

from hosting_emulator.engine.worlds import unvary, variation_view, vary
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.variation.points import POINTS, VariationRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world.records import Variation


class NewVariation(msgspec.Struct, forbid_unknown_fields=True):
    """Body of `PUT …/variation`. `only` are the points that it is confined to."""

    seed: str
    only: list[str] | None = None


async def put_variation(context: Context, world: str) -> web.Response:
    """PUT …/variation: from now on the world's answers vary, also after a reset."""
    engine = context.engine(world)
    asked = await context.read(NewVariation)
    vary(engine, read_asked(asked.seed, asked.only))
    return answers.json(variation_view(engine))


async def get_variation(context: Context, world: str) -> web.Response:
    """GET …/variation: null for a world that answers as usual."""
    return answers.json(variation_view(context.engine(world)))


async def delete_variation(context: Context, world: str) -> web.Response:
    """DELETE …/variation: the world answers as usual again; that it did already is no error."""
    unvary(context.engine(world))
    return web.Response(status=204)


async def list_points(context: Context) -> web.Response:
    """GET /contract/variation-points."""
    return answers.json({"items": [point._asdict() for point in POINTS.values()]})


def read_asked(seed: str, only: Sequence[str] | None) -> Variation:
    """Return a variation that is asked for. Raises ControlRefused 400."""
    try:
        return read_variation(seed, only)
    except VariationRefused as error:
        raise ControlRefused(400, "Variation refused", str(error)) from None


def asked_or_usual(
    context: Context, seed: str | msgspec.UnsetType | None, only: Sequence[str] | None
) -> Variation | None:
    """Return how a new world is to vary: as asked for, or as all worlds of this process do.

    A `seed` of None says: not at all. Raises ControlRefused 400.
    """
    if only is not None and not isinstance(seed, str):
        raise ControlRefused(400, "Variation refused", "only belongs to vary: give a seed as well")
    if isinstance(seed, str):
        return read_asked(seed, only)
    return None if seed is None else context.facts.variation
