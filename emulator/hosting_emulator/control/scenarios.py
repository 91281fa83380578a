"""Endpoints that show, load, record and run scenarios."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from hosting_emulator.control.chosen_scenario import Chosen
from hosting_emulator.control.replacement_notices import WorldBefore, load_notices
from hosting_emulator.control.scenario_worlds import build_scenario, read_chosen
from hosting_emulator.control.story_pages import respond_to_page
from hosting_emulator.control.variation import Point, read_variation_of_new_world
from hosting_emulator.control.world_replacement import check_replaceable, put_world
from hosting_emulator.control.world_summaries import world_summary
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Context, Example, refused_as
from hosting_emulator.http.query import Query, Text
from hosting_emulator.http.time_slices import LongJob, in_thread
from hosting_emulator.messages import (
    JsonObject,
    LoadedWorldSummary,
    RecordedScenario,
    ScenarioName,
    ScenarioText,
)
from hosting_emulator.scenario.reading import Scenario, read_scenario
from hosting_emulator.scenario.recording.recorder import record_session
from hosting_emulator.scenario.recording.refusals import NotRecordable
from hosting_emulator.scenario.recording.sessions import session_of
from hosting_emulator.scenario.schema import scenario_schema
from hosting_emulator.scenario.story import StoryRun, story_in_other_world
from hosting_emulator.variation.worlds import varied_world
from hosting_emulator.world.records import Variation


class ScenarioLoad(Chosen):
    """The scenario to load. Replacing a stored world that has changed requires `replace`."""

    replace: bool = False


class ScenarioRun(Chosen):
    """The scenario to run, in a temporary world or in a named one.

    Replacing a stored world that has changed requires `replace`.
    """

    world: str | None = None
    replace: bool = False
    vary: str | UnsetType | None = UNSET
    vary_only: list[Point] | None = None


async def list_scenarios(context: Context) -> list[ScenarioName]:
    """List the scenarios in the library."""
    # Read the library in a thread, because reading it for the first time takes a second.
    return await in_thread(_library_names, context)


def _library_names(context: Context) -> list[ScenarioName]:
    scenarios = [read_chosen(context, Chosen(name=name)) for name in context.library.names()]
    return [scenario.row() for scenario in scenarios]


def show_scenario(context: Context, name: str) -> ScenarioText:
    """Show a scenario from the library with its YAML text."""
    scenario = read_chosen(context, Chosen(name=name))
    return ScenarioText(**asdict(scenario.row()), text=scenario.text)


def schema() -> JsonObject:
    """Show the JSON Schema for scenario files."""
    return scenario_schema()


async def load_scenario(
    context: Context,
    world: str,
    body: Annotated[ScenarioLoad, Example({"name": "provider-outage"})],
) -> LoadedWorldSummary:
    """Load a scenario into a world. If the world does not exist, it is created.

    The old state remains until the new state is ready. Without `replace`, the status is 409 if the
    world is stored on disk and has changed since its start. `notices` says what changed besides the
    world's content, and how to go back.
    """
    scenario = await in_thread(read_chosen, context, body)
    if not body.replace:
        check_replaceable(context, world)
    replaced = context.worlds.get(world)
    before = None
    if replaced is not None:
        before = WorldBefore.of(replaced)
    engine = _load(context, world, scenario, context.facts.variation)
    notices = load_notices(context, engine, before)
    return LoadedWorldSummary(**asdict(world_summary(context, engine)), notices=notices)


async def record_scenario(
    engine: Engine,
    first: Annotated[
        Text,
        Query("The first request or commit of the span. Default: the start of the world.", "1"),
    ] = None,
    last: Annotated[
        Text,
        Query(
            "The last request (`12`) or commit (`commit:40`) of the span. Default: the latest.", "1"
        ),
    ] = None,
    name: Annotated[Text, Query("The scenario's name. Default: `recorded`.", "recorded")] = None,
) -> RecordedScenario:
    """Record a world's session as a scenario: requests with their responses, and manual changes.

    The file starts with the world's state at the start of the span. The story in the file has
    already been run and passes. The status is 409 if the session cannot be expressed as a scenario.
    """
    name = name or "recorded"
    with refused_as(409, "Not recorded", NotRecordable):
        # Record in a thread, because recording runs the story, which would block other requests.
        file = await in_thread(record_session, session_of(engine), name, first, last)
        row = read_scenario(file.text, name).row()
    return RecordedScenario(**asdict(row), text=file.text, steps=file.steps, left_out=file.left_out)


async def run_scenario(
    context: Context, body: Annotated[ScenarioRun, Example({"name": "provider-outage"})]
) -> Any:
    """Run a scenario's story in a temporary world or, with `world`, in a named world.

    A named world is created, or replaced if it exists. Other requests can be handled while the
    story runs.
    """
    scenario = await in_thread(read_chosen, context, body)
    variation = read_variation_of_new_world(context, body.vary, body.vary_only)
    if body.world is not None:
        if not body.replace:
            check_replaceable(context, body.world)
        engine = _load(context, body.world, scenario, variation)
        story = StoryRun(scenario, engine, respond_to_page)
    else:
        name = context.worlds.new_name()
        world = varied_world(build_scenario(scenario, name, context.facts.seed), variation)
        story = story_in_other_world(scenario, world, respond_to_page)
    slices = story.run_in_slices()
    async with LongJob() as job:
        while True:
            try:
                next(slices)
            except StopIteration as end:
                return end.value
            await job.pause()


def _load(context: Context, name: str, scenario: Scenario, variation: Variation | None) -> Engine:
    """Create a scenario's world under the name `name`, or replace the world that has this name.

    The new world keeps the seed of the world that it replaces. Raises ControlRefusal.
    """
    seed = context.facts.seed
    replaced = context.worlds.get(name)
    if replaced is not None:
        seed = replaced.world.seed
    world = varied_world(build_scenario(scenario, name, seed), variation)
    return put_world(context, world, f"scenario {scenario.part.name}", "loaded")
