"""Checks a complete story before it runs, including the parts that its steps use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hosting_emulator.criteria.compound_types import either
from hosting_emulator.criteria.value_types import ANY
from hosting_emulator.scenario.connection_checks import (
    check_connections,
    check_step_connection,
)
from hosting_emulator.scenario.document import SharedPart, StepPart
from hosting_emulator.scenario.expectations import ResponseTypes
from hosting_emulator.scenario.log_checks import LogPaths
from hosting_emulator.scenario.mistakes import Mistakes
from hosting_emulator.scenario.reading import Scenario
from hosting_emulator.scenario.source import Location
from hosting_emulator.scenario.step_checks import (
    check_aliases,
    check_expectation,
    check_keys,
    check_variables,
)
from hosting_emulator.scenario.story_scope import StoryScope
from hosting_emulator.scenario.variable_syntax import (
    NOW,
    WHOLE_RESPONSE,
    read_collected_value,
    read_saved_value,
)
from hosting_emulator.world.value import Change

#: The maximum number of steps in a story, including the steps of its parts.
_MOST_STEPS = 20_000


class StoryCheck:
    """Checks a scenario's story against the world that `change` builds."""

    def __init__(self, scenario: Scenario, change: Change, mistakes: Mistakes) -> None:
        self._part = scenario.part
        self._top = scenario.location
        self._mistakes = mistakes
        log_paths = LogPaths(scenario.part, change.world.assumptions.operation_path)
        self._scope = StoryScope(change, ResponseTypes(scenario.part), log_paths)
        #: The parts and the locations of their steps, by part name.
        self._parts: dict[str, tuple[Location, SharedPart]] = {}
        self._used_names: set[str] = set()

    def run(self) -> None:
        """Check the story and its parts.

        Raises one ScenarioError that lists the mistakes. If any mistakes have been found, the check
        stops at the first step that adds records. If the scenario has parts and any mistakes have
        been found in the parts or before, the story's own steps are not checked.
        """
        self._apply_timeline()
        check_connections(self._top, self._part, self._mistakes)
        step_counts = self._check_parts()
        story = self._part.story
        _count_steps(self._top / "story", story, step_counts)
        self._check_steps(self._top / "story", story)
        self._mistakes.raise_error()
        self._check_part_use()

    def _apply_timeline(self) -> None:
        """Add the names of the records that the timeline creates, so that steps can use them."""
        for index, planned in enumerate(self._part.timeline):
            location = self._top / "timeline" / index / "intervene"
            with self._mistakes.collect(location):
                self._scope.apply_addition(location, planned.intervene)

    def _check_parts(self) -> dict[str, int]:
        """Check the parts' names and how the parts use each other.

        Returns the number of steps in each part, by part name.
        """
        mistakes = self._mistakes
        step_counts: dict[str, int] = {}
        for index, shared in enumerate(self._part.parts):
            location = self._top / "parts" / index
            if shared.name in step_counts:
                message = f"a part with the name {shared.name!r} is already defined above"
                mistakes.append((location / "name").error(message))
            steps = location / "steps"
            for step_index, step in enumerate(shared.steps):
                use = steps / step_index / "use"
                with mistakes.collect(use):
                    # A part can use only the parts above it, so that no part can use itself.
                    use.check_word("earlier part", step.use, step_counts)
            step_counts[shared.name] = _count_steps(steps, shared.steps, step_counts)
            self._parts[shared.name] = (steps, shared)
        if self._part.parts:
            mistakes.raise_error()  # stop here: expanding a part that uses itself would never end
        return step_counts

    def _check_part_use(self) -> None:
        """Raise ScenarioError if there is a part that no step uses."""
        for index, shared in enumerate(self._part.parts):
            if shared.name not in self._used_names:
                location = self._top / "parts" / index / "name"
                raise location.error(f"no step uses the part {shared.name!r}: remove the part")

    def _check_steps(self, location: Location, steps: Iterable[StepPart]) -> None:
        for index, step in enumerate(steps):
            self._check_step(location / index, step)

    def _check_step(self, location: Location, step: StepPart) -> None:
        mistakes = self._mistakes
        scope = self._scope
        with mistakes.collect(location):
            check_variables(scope, location)
        with mistakes.collect(location):
            check_keys(scope, location, step)
        with mistakes.collect(location):
            check_step_connection(location, step)
        if step.intervene and "add" in step.intervene:
            mistakes.raise_error()  # stop here: later steps may name a record that was not added
        with mistakes.collect(location):
            check_aliases(scope, location, step)
        with mistakes.collect(location):
            if step.expect is not None:
                check_expectation(scope, location / "expect", step, step.expect)
        self._check_steps(location / "together", step.together or ())
        with mistakes.collect(location):
            (location / "use").check_word("part", step.use, self._parts)
            if step.use is not None:
                self._check_use(step, step.use)
        self._check_saves(location / "save", step)
        self._check_collections(location / "collect", step)

    def _check_use(self, step: StepPart, name: str) -> None:
        """Check the steps of a part with the variables that the `use` step sets."""
        self._used_names.add(name)
        location, shared = self._parts[name]
        saved_values = self._scope.saved_values
        local_names = [variable for variable in step.with_ if variable not in saved_values]
        saved_values |= dict.fromkeys(step.with_)
        self._check_steps(location, shared.steps)
        for variable in local_names:
            saved_values.pop(variable)

    def _check_saves(self, location: Location, step: StepPart) -> None:
        for name, text in step.save.items():
            with self._mistakes.collect(location / name):
                if name == NOW:
                    raise ValueError(
                        f"{name!r} is reserved for the world's time: save the value under another name"
                    )
                read_saved_value(text)
                if name in self._scope.collected_types:
                    raise ValueError(
                        f"{name!r} is a list that steps collect: save the value under another name"
                    )
            if text == WHOLE_RESPONSE:
                self._scope.saved_responses[name] = None
            else:
                self._scope.saved_values[name] = None

    def _check_collections(self, location: Location, step: StepPart) -> None:
        """Check the values that a step collects, and add the lists' names, so that later steps can
        use them.
        """
        scope = self._scope
        for name, text in step.collect.items():
            with self._mistakes.collect(location / name):
                if name == NOW:
                    raise ValueError(
                        f"{name!r} is reserved for the world's time: collect the values under another "
                        "name"
                    )
                if name in scope.saved_values and name not in scope.collected_types:
                    raise ValueError(
                        f"{name!r} is a saved value: collect the values under another name"
                    )
                known_kind = scope.collected_types.get(name)
                scope.collected_types[name] = ANY
                item_kind = scope.types.collected(step, read_collected_value(text))
                scope.collected_types[name] = either([known_kind, item_kind]) or ANY
            scope.saved_values[name] = None


def _count_steps(
    location: Location, steps: Iterable[StepPart], step_counts: Mapping[str, int]
) -> int:
    """Return the number of steps. The steps of a part are counted each time the part is used.

    Raises ScenarioError if there are more than 20,000 steps.
    """
    total = sum(step_counts.get(step.use or "", 0) * step.times or 1 for step in steps)
    if total > _MOST_STEPS:
        raise location.error(f"the story has more than {_MOST_STEPS} steps, including its parts")
    return total
