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
from hosting_emulator.scenario.shape import check_shape
from hosting_emulator.scenario.source import Location, Source

#: A longer text, in characters, is not cached: it is a recorded session rather than a file of the
#: library, and many of them would fill the memory.
_LONGEST_CACHED = 32 * 1024
#: The sections of a scenario that uses the default world.
_SECTIONS_WITHOUT_WORLD = {"name", "description", "seed", "parts", "story"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario of the right shape: its parts, the data that they were read from, and its text."""

    part: ScenarioPart
    source: Source
    text: str

    @property
    def kind(self) -> Literal["world", "story"]:
        """Whether the scenario describes a world, or only a story in the default world."""
        if self.source.data.keys() - _SECTIONS_WITHOUT_WORLD:
            return "world"
        return "story"

    def row(self) -> ScenarioName:
        """Return the scenario as lists show it."""
        return ScenarioName(name=self.part.name, kind=self.kind, description=self.part.description)

    @property
    def location(self) -> Location:
        """The location of the whole scenario."""
        return Location(self.source)


def read_scenario(text: str, file: str) -> Scenario:
    """Read the text of a scenario. Raises ScenarioError.

    The same short text is read only once. `file` is its name in messages.
    """
    if len(text) > _LONGEST_CACHED:
        return _read(text, file)
    return _read_cached(text, file)


def _read(text: str, file: str) -> Scenario:
    # Imported here: only a process that reads a scenario needs YAML.
    from hosting_emulator.scenario.yaml_text import read_yaml

    return scenario_of(read_yaml(text, file), text)


#: It holds the whole library, and each test that begins with a scenario of the library.
_read_cached = lru_cache(maxsize=128)(_read)


def scenario_of(source: Source, text: str = "") -> Scenario:
    """Return the scenario that plain data describes. Raises ScenarioError."""
    check_shape(Location(source))
    return Scenario(convert(source.data, ScenarioPart), source, text)


def without_seed(text: str) -> str:
    """Return a scenario without its seed, as JSON. A text without a seed is returned unchanged."""
    try:
        scenario = read_scenario(text, "scenario.yaml")
    except ScenarioError:  # no world was made from this text
        return text
    if scenario.part.seed is None:
        return text
    sections = {name: value for name, value in scenario.source.data.items() if name != "seed"}
    return msgspec.json.encode(sections).decode()
