"""Beginning: the world that the default one becomes at the start, of a scenario or a kept state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hosting_emulator.bootstrap.refusing import clock_of
from hosting_emulator.contract.assumptions import AssumptionRefused
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.live_world import anchored
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.settings import Settings, StartError
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.population import with_overrides
from hosting_emulator.world.records import Origin
from hosting_emulator.world.value import World

if TYPE_CHECKING:
    from hosting_emulator.scenario.document import Scenario


def read_state(path: Path) -> World:
    """Return the default world of an exported state. Raises StartError, naming file and place."""
    # Imported here: few starts read a state.
    from hosting_emulator.storage.documents import import_state

    try:
        world = import_state(read_json(path.read_bytes()), DEFAULT_WORLD, 0)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StartError(f"{path} cannot be read: {reason}") from None
    except JsonRefused as error:
        raise StartError(f"{path} {error}") from None
    except StateRefused as error:
        raise StartError(f"{path}: {error}") from None
    return anchored(world, world.at_ms, machine_ms())


def build_scenario(scenario: Scenario, seed: str, settings: Settings) -> World:
    """Return a scenario's default world, with the clock and assumptions asked for laid over its own.

    `seed` is for a scenario that names none; a reset brings back the scenario's own clock and
    assumptions. Raises ScenarioError, StartError.
    """
    # Imported here: few starts have a scenario.
    from hosting_emulator.scenario.build import build_world

    world = build_world(scenario, DEFAULT_WORLD, machine_ms(), seed)
    mode, rate = clock_of(settings)
    try:
        return with_overrides(
            world, machine_ms(), mode=mode, rate=rate, assumptions=settings.assumptions
        )
    except (ClockRefused, AssumptionRefused) as error:
        raise StartError(str(error)) from None


def become(engine: Engine, world: World, title: str) -> None:
    """Put a world in place of an engine's, later than all that was. Raises StoreFailed."""
    commit = max(world.commit, engine.world.commit + 1)
    engine.replace_world(replace(world, commit=commit), title)


def rebuild(world: World, origin: Origin, now_machine_ms: int) -> World:
    """Build a scenario's world again, from the text that its origin keeps. Raises ScenarioError."""
    from hosting_emulator.scenario.build import build_world
    from hosting_emulator.scenario.document import read_scenario

    scenario = read_scenario(str(origin.scenario), origin.scenario_file or "scenario.yaml")
    return build_world(scenario, world.name, now_machine_ms, world.seed)
