"""Small scenario files for tests, which consist of a valid head and a rest that the test provides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from textwrap import dedent
from typing import Any, Literal

import jsonschema  # type: ignore[import-untyped]
import pytest

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.schema import scenario_schema
from hosting_emulator.scenario.story import StoryRun, check_text
from hosting_emulator.stories import respond_to_page
from hosting_emulator.world.value import World

#: The verdict on a claim in a story: the claim is true, false, or refused because it can never be true.
Verdict = Literal["green", "red", "refused"]

HEAD = "name: small\ndescription: A small one.\n"
#: The number of the first line after the head.
FIRST_LINE = 3


@cache
def schema_check() -> Any:
    """Return a validator for the JSON schema of scenarios, cached because its creation is slow."""
    return jsonschema.Draft202012Validator(scenario_schema())


def text_of(rest: str) -> str:
    return HEAD + dedent(rest).lstrip("\n")


def run(rest: str) -> dict[str, Any]:
    return check_text(text_of(rest), "small.yaml", respond_to_page)


def run_on(rest: str) -> tuple[dict[str, Any], Engine]:
    """Run a story, and return its report and the engine of its world."""
    scenario = read_scenario(text_of(rest), "small.yaml")
    engine = Engine(build_world(scenario, "default", 0), Keeper())
    return StoryRun(scenario, engine).run(), engine


def scenario_world(rest: str, machine_ms: int = 0) -> World:
    """Return the world of a small scenario, named `default`."""
    return world_of_scenario(text_of(rest), machine_ms)


def world_of_scenario(text: str, machine_ms: int = 0) -> World:
    """Return the world that the text of a scenario file describes, named `default`."""
    return build_world(read_scenario(text, "small.yaml"), "default", machine_ms)


def run_text(text: str, name: str) -> tuple[dict[str, Any], Engine]:
    """Run the story of a complete file, and return its report and the engine of its world.

    The story may visit the emulator's pages.
    """
    scenario = read_scenario(text, name)
    world = build_world(scenario, "default", 0)
    engine = Engine(world, Keeper(), lambda: world.clock.machine_ms)
    return StoryRun(scenario, engine, respond_to_page).run(), engine


def scenario_error(rest: str) -> ScenarioError:
    """Run a story that must be refused, and return the error."""
    with pytest.raises(ScenarioError) as caught:
        run(rest)
    return caught.value


def run_story(
    story: Sequence[dict[str, Any]],
    faults: Sequence[dict[str, Any]] = (),
    clock: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Run the steps of a story in a fresh world, and return the report.

    Raises ScenarioError if the story is invalid.
    """
    document = _document(story, faults)
    if clock is not None:
        document["clock"] = clock
    return check_text(json.dumps(document), "small.yaml", respond_to_page)


def differences_of(step: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return the path, the expected value and the actual value of each difference in a step's report."""
    return [
        (difference["at"], difference["expected"], difference["found"])
        for difference in step["differences"]
    ]


def verdict_of(story: Sequence[dict[str, Any]], faults: Sequence[dict[str, Any]] = ()) -> Verdict:
    """Run the steps of a story, and return the verdict. Only the last step may fail."""
    try:
        report = run_story(story, faults)
    except ScenarioError as error:
        return "refused" if error.line else "red"
    assert len(report["steps"]) == len(story), report["steps"][-1]
    if not report["passed"]:
        return "red"
    schema_check().validate(_document(story, faults))
    return "green"


def _document(story: Sequence[dict[str, Any]], faults: Sequence[dict[str, Any]]) -> dict[str, Any]:
    head = {"name": "small", "description": "A small story."}
    return {**head, "faults": list(faults), "story": list(story)}
