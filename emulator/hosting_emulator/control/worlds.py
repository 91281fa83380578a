"""Endpoints that list, show, reset and delete worlds."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.control.world_summaries import world_summary
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Body, Context, ControlRefusal, Example, refused_as
from hosting_emulator.messages import WorldSummary
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.world.naming import DEFAULT_WORLD


def list_worlds(context: Context) -> list[WorldSummary]:
    """List the worlds."""
    return [world_summary(context, engine) for engine in context.worlds]


def show_world(context: Context, engine: Engine) -> WorldSummary:
    """Show a world's summary."""
    return world_summary(context, engine)


def delete_world(context: Context, engine: Engine, world: str) -> None:
    """Delete a world and its state. The default world cannot be deleted (409)."""
    if world == DEFAULT_WORLD:
        message = "the default world cannot be deleted; reset it instead"
        raise ControlRefusal(409, "Not deleted", message)
    context.worlds.delete(world)
    engine.cancel_expiry()


class Reset(Body):
    """How to reset a world. With `default`, it is reset to the default content, even if it has a scenario."""

    default: bool = False


def reset_world(
    context: Context, engine: Engine, body: Annotated[Reset, Example({"default": True})]
) -> WorldSummary:
    """Reset a world to the start of its scenario.

    A world without a scenario, even an imported one, is reset to the content of the default world.
    If a stored or imported world has a scenario that this emulator refuses, the status is 409, and
    only a reset with `default` is possible.
    """
    if body.default:
        context.worlds.reset_to_default(engine)
    else:
        with refused_as(409, "Scenario refused", ScenarioError):
            context.worlds.reset(engine)
    return world_summary(context, engine)
