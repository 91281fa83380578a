"""Builds the default world when an emulator starts, from a scenario, an exported state or the settings."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import anchored
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.messages import ClockMode
from hosting_emulator.scenario.reading import Scenario, read_scenario
from hosting_emulator.settings import Settings, StartError
from hosting_emulator.storage.export import import_state
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.population import with_overrides
from hosting_emulator.world.records import WorldSource
from hosting_emulator.world.value import World


def read_state(path: Path, seed: str | None) -> World:
    """Read the default world from a file that contains an exported state.

    If the state is invalid, raises StartError with the file and the position of the error.
    """
    try:
        world = import_state(read_json(path.read_bytes()), DEFAULT_WORLD, 0, seed)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StartError(f"{path} cannot be read: {reason}") from None
    except JsonRefused as error:
        raise StartError(f"{path} {error}") from None
    except StateRefused as error:
        raise StartError(f"{path}: {error}") from None
    return anchored(world, world.at_ms, machine_ms())


def build_scenario_world(scenario: Scenario, settings: Settings, seed: str) -> World:
    """Build a scenario's world, with the clock and the assumptions from the settings.

    Resetting the world restores the clock and the assumptions from the scenario. `seed` is used if
    the scenario has no seed. Raises ScenarioError, ClockRefused or AssumptionRefused.
    """
    # Imported here because few emulators start with a scenario, and the import takes 20 ms.
    from hosting_emulator.scenario.build import build_world

    now_ms = machine_ms()
    mode, rate = clock_of(settings)
    world = build_world(scenario, DEFAULT_WORLD, now_ms, seed)
    return with_overrides(world, now_ms, mode=mode, rate=rate, assumptions=settings.assumptions)


def rebuild(world: World, source: WorldSource, now_machine_ms: int) -> World:
    """Rebuild a scenario's world from the scenario text in its source. Raises ScenarioError."""
    # Imported here because few worlds have a scenario, and the import takes 20 ms.
    from hosting_emulator.scenario.build import build_world

    scenario = read_scenario(str(source.scenario), source.scenario_file or "scenario.yaml")
    return build_world(scenario, world.name, now_machine_ms, world.seed)


def world_source(settings: Settings) -> WorldSource:
    """Return the source for a new default world, which contains the clock and assumptions from the
    settings.
    """
    mode, rate = clock_of(settings)
    at_ms = None
    if settings.at is not None:
        at_ms = parse_timestamp(settings.at)
    assumptions = Assumptions().changed(settings.assumptions)
    return WorldSource(mode or "real", rate, at_ms, assumptions, chosen=tuple(settings.assumptions))


def clock_of(settings: Settings) -> tuple[ClockMode | None, float | None]:
    """Return the clock's mode and rate from the settings. Values that are not set are None."""
    mode, _, rate = (settings.clock or "").partition(":")
    rate_value = None
    if rate:
        rate_value = float(rate)
    return cast("ClockMode | None", mode or None), rate_value


def unused_settings(settings: Settings, source: WorldSource, world: World) -> tuple[str, ...]:
    """Return the names of the settings for a new world whose values differ from those of a stored world.

    `source` is the source of the new world that the settings describe. `at` is left out, because
    the time at which the stored world started is unknown.
    """
    names = []
    mode, rate = clock_of(settings)
    has_other_rate = rate is not None and rate != world.clock.rate
    if mode is not None and (mode != world.clock.mode or has_other_rate):
        names.append("clock")
    if settings.seed not in (DEFAULT_SEED, world.seed):
        names.append("seed")
    if any(
        getattr(source.assumptions, name) != getattr(world.assumptions, name)
        for name in source.chosen
    ):
        names.append("assume")
    return tuple(names)
