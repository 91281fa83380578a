"""The worlds of scenarios that a request names."""

from __future__ import annotations

from hosting_emulator.control.chosen_scenario import Chosen
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.http.endpoint import Context, ControlRefusal, refused_as
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import Scenario, read_scenario
from hosting_emulator.scenario.source import ScenarioError
from hosting_emulator.world.value import World


def fresh_world(context: Context, chosen: Chosen, name: str, seed: str) -> World:
    """Return the world of a scenario under a name. Raises ControlRefusal."""
    key = ("scenario", *_text(context, chosen), seed)
    return context.worlds.fresh(name, key, lambda: build(read(context, chosen), name, seed))


def build(scenario: Scenario, name: str, seed: str) -> World:
    """Return the world of a scenario. Raises ControlRefusal."""
    with refused_as(400, "Scenario refused", ScenarioError):
        return build_world(scenario, name, machine_ms(), seed)


def read(context: Context, chosen: Chosen) -> Scenario:
    """Read a scenario. Raises ControlRefusal."""
    with refused_as(400, "Scenario refused", ScenarioError):
        return read_scenario(*_text(context, chosen))


def _text(context: Context, chosen: Chosen) -> tuple[str, str]:
    """Return a scenario's text and what errors call it. Raises ControlRefusal."""
    if (chosen.name is None) == (chosen.text is None):
        raise ControlRefusal(400, "Bad request", "give either name or text")
    if chosen.name is None:
        return str(chosen.text), chosen.file
    with refused_as(404, "Scenario refused", ScenarioError):
        return context.library.text(chosen.name), f"{chosen.name}.yaml"
