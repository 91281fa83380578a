"""The names to which a story's steps can refer, such as aliases and saved values."""

from __future__ import annotations

from typing import Any

from hosting_emulator.criteria.compound_types import Array
from hosting_emulator.criteria.value_types import ANY, ValueType
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.scenario.expectations import ResponseTypes
from hosting_emulator.scenario.log_checks import LogPaths
from hosting_emulator.scenario.source import Location
from hosting_emulator.scenario.variable_syntax import variables_in
from hosting_emulator.world.value import Change


class StoryScope:
    """The names that exist when a step runs.

    More names are added while a story's steps are checked in order.
    """

    def __init__(self, change: Change, types: ResponseTypes, log_paths: LogPaths) -> None:
        self.change = change
        self.types = types
        self.log_paths = log_paths
        #: The names under which earlier steps save values, in order.
        self.saved_values: dict[str, None] = {}
        #: The types of the values that earlier steps collect, by the name of the list.
        self.collected_types: dict[str, ValueType] = {}
        #: The names under which earlier steps save whole responses.
        self.saved_responses: dict[str, None] = {}

    def type_of(self, name: str) -> ValueType:
        """Return the type of a saved value, or of a list of collected values."""
        item_kind = self.collected_types.get(name)
        if item_kind is None:
            return ANY
        return Array(item=item_kind)

    def aliases(self, kind: str) -> list[str]:
        """Return the sorted aliases of all records of a kind, such as `project`."""
        indexes = self.change.world.indexes
        return sorted(key.split(":")[1] for key in indexes if key.startswith(f"{kind}:"))

    def has_alias(self, kind: str, alias: str) -> bool:
        """Return whether the world has a record of this kind with this alias."""
        return self.change.world.indexes.get(f"{kind}:{alias}") is not None

    def ids_by_alias(self, kind: str) -> dict[str, str]:
        """Return the ids of all records of a kind, by alias."""
        indexes = self.change.world.indexes
        return {alias: str(indexes[f"{kind}:{alias}"]) for alias in self.aliases(kind)}

    def apply_addition(self, location: Location, document: dict[str, Any] | None) -> None:
        """Add the records that an `add` intervention creates, so that later steps can refer to
        them.

        An intervention with variables is skipped, because its records are unknown before the story
        runs. Raises ScenarioError if the intervention cannot be applied.
        """
        if not document or "add" not in document:
            return
        if any(variables_in(document)):
            return
        fork = self.change.fork()
        with (location / "add").refusals():
            read_intervention(document).apply(fork)
        self.change = Change(fork.applied(), fork.now_ms)
