"""Control of interventions: change a world from outside the contract."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from hosting_emulator.interventions import (
    InterventionRefused,
    describe_interventions,
    read_intervention,
)
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.world.value import Change


async def intervene(context: Context, world: str) -> web.Response:
    """POST …/interventions: `{"stick_operation": {"project": "shop"}}`. Says what it did."""
    engine = context.engine(world)
    document = await context.read(dict[str, Any])
    try:
        intervention = read_intervention(document)
    except InterventionRefused as error:
        raise ControlRefused(400, "Intervention refused", str(error)) from None
    now_ms = engine.run_due()
    change = Change(engine.world, now_ms)
    try:
        said = intervention.apply(change)
    except InterventionRefused as error:
        raise ControlRefused(409, "Intervention refused", str(error)) from None
    engine.commit(change, f"intervention {next(iter(document))}")
    return answers.json({"intervention": next(iter(document)), "said": said})


async def list_interventions(context: Context) -> web.Response:
    """GET /contract/interventions: every intervention with its fields."""
    return answers.json({"items": describe_interventions()})
