"""Parses the text of a scenario."""

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

#: Texts with more characters than this are not cached. They are usually recorded sessions, and
#: caching many of them would use too much memory.
_LONGEST_CACHED = 32 * 1024
#: The only sections that a scenario of kind `story` can have.
_SECTIONS_WITHOUT_WORLD = {"name", "description", "seed", "parts", "story"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A valid scenario: its typed parts, its source and its text."""

    part: ScenarioPart
    source: Source
    text: str

    @property
    def kind(self) -> Literal["world", "story"]:
        """`world` if the scenario describes its own world, or `story` if it uses the default world."""
        if self.source.data.keys() - _SECTIONS_WITHOUT_WORLD:
            return "world"
        return "story"

    def row(self) -> ScenarioName:
        """Return the scenario's name, kind and description for lists of scenarios."""
        return ScenarioName(name=self.part.name, kind=self.kind, description=self.part.description)

    @property
    def location(self) -> Location:
        """The location of the scenario's top level."""
        return Location(self.source)


def read_scenario(text: str, file: str) -> Scenario:
    """Parse the text of a scenario. Raises ScenarioError if the scenario is invalid.

    The result is cached, unless the text is longer than 32 Ki characters. `file` is the file name
    to use in error messages.
    """
    if len(text) > _LONGEST_CACHED:
        return _read(text, file)
    return _read_cached(text, file)


def _read(text: str, file: str) -> Scenario:
    # Imported here because only processes that read scenarios need YAML.
    from hosting_emulator.scenario.yaml_text import read_yaml

    return scenario_of(read_yaml(text, file), text)


#: The cache must have room for the whole library and for the scenarios that tests start with.
_read_cached = lru_cache(maxsize=128)(_read)


def scenario_of(source: Source, text: str = "") -> Scenario:
    """Create a scenario from plain data. Raises ScenarioError if the data is invalid."""
    check_shape(Location(source))
    return Scenario(convert(source.data, ScenarioPart), source, text)


def readable_rest(text: str, file: str) -> Scenario | None:
    """Parse a scenario that has shape errors, leaving out the fields that cause them.

    Returns None if the text is not valid YAML, or if other parts depend on these fields.
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
    """Return a scenario's text as JSON without the seed.

    If the scenario has no seed or is invalid, the text is returned unchanged.
    """
    try:
        scenario = read_scenario(text, "scenario.yaml")
    except ScenarioError:  # invalid text cannot be the source of a world
        return text
    if scenario.part.seed is None:
        return text
    sections = {name: value for name, value in scenario.source.data.items() if name != "seed"}
    return msgspec.json.encode(sections).decode()
