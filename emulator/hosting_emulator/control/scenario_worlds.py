"""Reads the scenario that a request selects, and builds its world."""

from __future__ import annotations

from hosting_emulator.control.chosen_scenario import Chosen
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.http.endpoint import Context, ControlRefusal, refused_as
from hosting_emulator.scenario.build import build_world, read_and_check
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import Scenario
from hosting_emulator.world.value import World


def fresh_world(context: Context, chosen: Chosen, name: str, seed: str) -> World:
    """Build a fresh world called `name` for the scenario that a request selects.

    Raises ControlRefusal.
    """
    text, file = _text_and_file(context, chosen)
    key = ("scenario", text, file, seed)
    return context.worlds.fresh(
        name, key, lambda: build_scenario(read_chosen(context, chosen), name, seed)
    )


def build_scenario(scenario: Scenario, name: str, seed: str) -> World:
    """Build a world called `name` from a scenario.

    Raises ControlRefusal 400 if the world cannot be built.
    """
    with refused_as(400, "Scenario refused", ScenarioError):
        return build_world(scenario, name, machine_ms(), seed)


def read_chosen(context: Context, chosen: Chosen) -> Scenario:
    """Read and check the scenario that a request selects. Raises ControlRefusal."""
    text, file = _text_and_file(context, chosen)
    with refused_as(400, "Scenario refused", ScenarioError):
        return read_and_check(text, file, machine_ms())


def _text_and_file(context: Context, chosen: Chosen) -> tuple[str, str]:
    """Return a scenario's text and the file name to use in error messages. Raises ControlRefusal."""
    if (chosen.name is None) == (chosen.text is None):
        raise ControlRefusal(400, "Bad request", "give either name or text")
    if chosen.name is None:
        return str(chosen.text), chosen.file
    with refused_as(404, "Scenario refused", ScenarioError):
        return context.library.text(chosen.name), f"{chosen.name}.yaml"
