"""Checking a scenario by itself: read it, build its world, run its story there."""

from __future__ import annotations

from typing import Any

from hosting_emulator.engine.commits import Memory
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.scenario.building import build_world
from hosting_emulator.scenario.reading import Scenario, read_scenario
from hosting_emulator.scenario.story import Story


def check_text(text: str, file: str) -> dict[str, Any]:
    """Run the story of a scenario in a world of its own; returns the report.

    `file` is the name shown in errors. Raises ScenarioError when the scenario itself is wrong.
    """
    return check(read_scenario(text, file))


def check(scenario: Scenario) -> dict[str, Any]:
    """Run the story of a scenario that has been read. Raises ScenarioError."""
    world = build_world(scenario, "default", machine_ms())
    return Story(scenario, Engine(world, Memory())).run()
