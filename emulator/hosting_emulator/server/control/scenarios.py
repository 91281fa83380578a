"""Control of scenarios: the library, loading one into a world, running its story."""

from __future__ import annotations

from aiohttp import web
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.live_world import Memory
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import Scenario, read_scenario
from hosting_emulator.scenario.located import ScenarioError
from hosting_emulator.scenario.schema import scenario_schema
from hosting_emulator.scenario.story import Story
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Chosen, Context, ControlRefused
from hosting_emulator.server.control.variation import asked_or_usual
from hosting_emulator.server.control.views import world_summary
from hosting_emulator.variation.worlds import varied_world
from hosting_emulator.world.records import Variation
from hosting_emulator.world.value import World


class ToRun(Chosen, forbid_unknown_fields=True):
    """A scenario to run, in a throw-away world or in the one that is named."""

    world: str | None = None
    vary: str | UnsetType | None = UNSET
    only: list[str] | None = None


async def list_scenarios(context: Context) -> web.Response:
    """GET /scenarios."""
    library = context.library
    items = [
        {"name": name, "description": _read(context, Chosen(name=name)).part.description}
        for name in library.names()
    ]
    return answers.json({"items": items})


async def show_scenario(context: Context, name: str) -> web.Response:
    """GET /scenarios/{name}."""
    scenario = _read(context, Chosen(name=name))
    shown = {"name": name, "description": scenario.part.description, "text": scenario.text}
    return answers.json(shown)


async def schema(context: Context) -> web.Response:
    """GET /contract/scenario-schema.json."""
    return answers.json(scenario_schema())


async def load_scenario(context: Context, world: str) -> web.Response:
    """POST …/scenario: the world becomes the scenario's. The old state stays until that is ready."""
    engine = context.engine(world)
    load(engine, _read(context, await context.read(Chosen)), context.facts.variation)
    return answers.json(world_summary(context, engine))


async def run_scenario(context: Context) -> web.Response:
    """POST /scenarios/run: run the story in a throw-away world, or in a named one that it replaces."""
    chosen = await context.read(ToRun)
    scenario = _read(context, chosen)
    variation = asked_or_usual(context, chosen.vary, chosen.only)
    if chosen.world is not None:
        engine = context.engine(chosen.world)
        load(engine, scenario, variation)
    else:
        name = context.worlds.new_name()
        built = varied_world(_build(scenario, name, context.facts.seed), variation)
        engine = Engine(built, Memory())
    return answers.json(Story(scenario, engine).run())


def load(engine: Engine, scenario: Scenario, variation: Variation | None) -> None:
    """Put a scenario's world in the place of an engine's, varied instead of its own variation.

    With no `variation` its own stays. Raises ControlRefused, changing nothing.
    """
    built = varied_world(_build(scenario, engine.world.name, engine.world.seed), variation)
    world = replace(built, commit=engine.world.commit + 1)
    engine.replace_world(world, f"scenario {scenario.name}")


def fresh_world(context: Context, chosen: Chosen, name: str, seed: str) -> World:
    """Return the world of a scenario under a name. Raises ControlRefused."""
    text, file = _text(context, chosen)
    return context.worlds.prototypes.fresh(
        name, ("scenario", text, file, seed), lambda: _build(_parsed(text, file), name, seed)
    )


def _build(scenario: Scenario, name: str, seed: str) -> World:
    try:
        return build_world(scenario, name, machine_ms(), seed)
    except ScenarioError as error:
        raise ControlRefused(400, "Scenario refused", str(error)) from None


def _read(context: Context, chosen: Chosen) -> Scenario:
    return _parsed(*_text(context, chosen))


def _text(context: Context, chosen: Chosen) -> tuple[str, str]:
    """Return a scenario's text and what errors call it. Raises ControlRefused."""
    if (chosen.name is None) == (chosen.text is None):
        raise ControlRefused(400, "Bad request", "give either name or text")
    if chosen.name is None:
        return str(chosen.text), chosen.file
    try:
        return context.library.text(chosen.name), f"{chosen.name}.yaml"
    except ScenarioError as error:
        raise ControlRefused(404, "Scenario refused", str(error)) from None


def _parsed(text: str, file: str) -> Scenario:
    try:
        return read_scenario(text, file)
    except ScenarioError as error:
        raise ControlRefused(400, "Scenario refused", str(error)) from None
