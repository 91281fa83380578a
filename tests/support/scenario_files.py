"""Reads scenario files and the scenario library, creates their worlds and runs their stories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator.scenario.reading import Scenario, read_scenario, scenario_of
from hosting_emulator.scenario.source import Source
from hosting_emulator.scenario.step_keys import ACTIONS
from hosting_emulator.scenario.story import check_text, run_in_other_world
from hosting_emulator.stories import respond_to_page
from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator.world.value import World
from hosting_emulator_scenarios import FOLDER


def library_files() -> list[Path]:
    """Return the files of the scenario library, sorted by name."""
    return sorted(FOLDER.glob("*.yaml"))


def step_actions() -> tuple[str, ...]:
    """Return the fields that define the action of a story's step. Each step has one of these fields."""
    return tuple(ACTIONS)


class ScenarioFile:
    """A scenario that was read from a file or from the library."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    @property
    def name(self) -> str:
        return self._scenario.part.name

    @property
    def description(self) -> str:
        return self._scenario.part.description

    @property
    def kind(self) -> str:
        """The kind that lists show: `world` or `story`."""
        return self._scenario.kind

    @property
    def document(self) -> dict[str, Any]:
        """The file as plain data."""
        document: dict[str, Any] = self._scenario.source.data
        return document

    def content(self) -> bytes:
        """Return everything that was read, in a form that can be compared."""
        return msgspec.json.encode(self._scenario.part)

    def shares_value_with(self, other: ScenarioFile) -> bool:
        """Return whether two files share one parsed object, and not only equal objects."""
        return self._scenario is other._scenario

    def world(self, machine_ms: int = 0, seed: str = DEFAULT_SEED) -> World:
        """Return the world that the file describes, named `default`."""
        return build_world(self._scenario, "default", machine_ms, seed)

    def run(self, seed: str = DEFAULT_SEED, *, variation_seed: str | None = None) -> dict[str, Any]:
        """Run the story in a new world, and return its report.

        If `variation_seed` is given, the world's responses vary by this seed.
        """
        world = self.world(seed=seed)
        if variation_seed is not None:
            world = varied_world(world, read_variation(variation_seed))
        return run_in_other_world(self._scenario, world, respond_to_page)


def read_file(path: Path) -> ScenarioFile:
    """Read a scenario file. Raises ScenarioError if it is not valid."""
    return read_text(path.read_text("utf-8"), path.name)


def read_text(text: str, file: str) -> ScenarioFile:
    """Read the text of a scenario file. Raises ScenarioError if it is not valid."""
    return ScenarioFile(read_scenario(text, file))


def read_from_library(name: str) -> ScenarioFile:
    """Read a scenario of the library by its name."""
    return ScenarioFile(ScenarioLibrary(FOLDER).find(name))


def check_scenario(text: str, file: str) -> dict[str, Any]:
    """Run the story of a file like `scenario check`, and return its report.

    Raises ScenarioError if the file is not valid.
    """
    return check_text(text, file, respond_to_page)


def text_passes(text: str, file: str) -> bool:
    """Return whether a scenario file is valid and its story passes."""
    try:
        return bool(check_scenario(text, file)["passed"])
    except ScenarioError:
        return False


def document_passes(document: dict[str, Any]) -> bool:
    """Return whether a scenario in the form of plain data is valid and its story passes."""
    try:
        scenario = scenario_of(Source("scenario.yaml", document, {}, {}))
        return bool(ScenarioFile(scenario).run()["passed"])
    except ScenarioError:
        return False


@dataclass(frozen=True)
class FileError:
    """The error for an invalid file: its message, and the line and column of the first mistake."""

    message: str
    line: int
    column: int


def error_of(text: str, file: str) -> FileError | None:
    """Run the story of a file. Return the error if the file is invalid, or None if it is valid."""
    try:
        check_text(text, file)
    except ScenarioError as error:
        return FileError(str(error), error.line, error.column)
    return None
