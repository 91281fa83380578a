"""Reads the text of a scenario into its parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import msgspec

from hosting_emulator.contract.conversion import convert
from hosting_emulator.messages import ScenarioName
from hosting_emulator.scenario.document import ScenarioPart
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.shape import check_shape, without_shape_errors
from hosting_emulator.scenario.source import Location, Source

#: Texts with more characters are not cached. They are recorded sessions rather than files of the
#: library, and many of them would fill the memory.
_LONGEST_CACHED = 32 * 1024
#: The sections of a scenario that uses the default world.
_SECTIONS_WITHOUT_WORLD = {"name", "description", "seed", "parts", "story"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A valid scenario: its parts, the data from which they were read, and its text."""

    part: ScenarioPart
    source: Source
    text: str

    @property
    def kind(self) -> Literal["world", "story"]:
        """`world` if the scenario describes a world, `story` if it only has a story in the default world."""
        if self.source.data.keys() - _SECTIONS_WITHOUT_WORLD:
            return "world"
        return "story"

    def row(self) -> ScenarioName:
        """Return the scenario as a row for lists of scenarios."""
        return ScenarioName(name=self.part.name, kind=self.kind, description=self.part.description)

    @property
    def location(self) -> Location:
        """The location of the whole scenario."""
        return Location(self.source)


def read_scenario(text: str, file: str) -> Scenario:
    """Read the text of a scenario. Raises ScenarioError.

    A short text is read only once, and then cached. `file` is the file name in messages.
    """
    if len(text) > _LONGEST_CACHED:
        return _read(text, file)
    return _read_cached(text, file)


def _read(text: str, file: str) -> Scenario:
    # Imported here because only a process that reads a scenario needs YAML.
    from hosting_emulator.scenario.yaml_text import read_yaml

    return scenario_of(read_yaml(text, file), text)


#: The cache has room for the whole library and for each test that starts with a library scenario.
_read_cached = lru_cache(maxsize=128)(_read)


def scenario_of(source: Source, text: str = "") -> Scenario:
    """Return the scenario described by plain data. Raises ScenarioError."""
    check_shape(Location(source))
    return Scenario(convert(source.data, ScenarioPart), source, text)


def readable_rest(text: str, file: str) -> Scenario | None:
    """Return a scenario that has errors of shape without the fields that have them.

    The result is None if the text is not valid YAML, or if other parts depend on these fields.
    """
    from hosting_emulator.scenario.yaml_text import read_yaml

    try:
        source = without_shape_errors(Location(read_yaml(text, file)))
    except ScenarioError:
        return None
    if source is None:
        return None
    return Scenario(convert(source.data, ScenarioPart), source, text)


def without_seed(text: str) -> str:
    """Return a scenario without its seed, as JSON.

    A scenario that has no seed is returned unchanged.
    """
    try:
        scenario = read_scenario(text, "scenario.yaml")
    except ScenarioError:  # no world was built from this text
        return text
    if scenario.part.seed is None:
        return text
    sections = {name: value for name, value in scenario.source.data.items() if name != "seed"}
    return msgspec.json.encode(sections).decode()
