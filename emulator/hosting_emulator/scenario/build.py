"""Builds a scenario's world, including its armed faults and outcomes and its timeline.

This also checks everything that can be checked before the story runs. All mistakes are reported
together.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp, parse_timestamp
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.faults.rule_resolution import moment_ms
from hosting_emulator.faults.written_effects import read_effect
from hosting_emulator.scenario.document import PlannedPart
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.mistakes import Mistakes
from hosting_emulator.scenario.reading import Scenario, read_scenario, readable_rest
from hosting_emulator.scenario.source import Location
from hosting_emulator.scenario.step_checks import check_manual_change
from hosting_emulator.scenario.step_keys import TIMELINE_ACTIONS, TimelineAction
from hosting_emulator.scenario.story_check import StoryCheck
from hosting_emulator.scenario.variable_syntax import variables_in
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator.world.default_population import with_extended_world
from hosting_emulator.world.population import new_world
from hosting_emulator.world.population_checks import find_mistakes
from hosting_emulator.world.population_parts import without_key_values
from hosting_emulator.world.records import TimelineEntry, Variation, WorldSource
from hosting_emulator.world.schedule import schedule_event
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Change, World

_RULE_SECTIONS = {"faults": FAULT, "outcomes": OUTCOME}


def build_world(scenario: Scenario, name: str, machine_ms: int, seed: str = DEFAULT_SEED) -> World:
    """Return a scenario's world under the name `name`.

    `seed` is used if the scenario has no seed. When a scenario is loaded into a world, the world's
    own seed is passed, so that loading a scenario without a seed does not change the world's ids
    and API keys. Raises one ScenarioError that lists all mistakes.
    """
    part = scenario.part
    top = scenario.location
    mistakes = Mistakes()
    source = _world_source(scenario, mistakes)
    _check_records(scenario, source, mistakes)
    mistakes.raise_error()  # stop, because the checks below need valid records
    with (top / "clock").refusals():
        world = new_world(name, part.seed or seed, source, machine_ms, part.world)
    change = Change(world, world.at_ms)
    _arm_rules(scenario, change, mistakes)
    for order, planned in enumerate(part.timeline):
        _plan(top / "timeline" / order, order, planned, change, mistakes)
    StoryCheck(scenario, change, mistakes).run()
    variation = _variation(scenario, mistakes)
    mistakes.raise_error()
    if not change.is_empty:
        world = change.applied()
    return varied_world(world, variation)


def read_and_check(text: str, file: str, machine_ms: int) -> Scenario:
    """Parse and check a scenario's text. Raises ScenarioError.

    If some values have the wrong shape but later checks do not depend on them, the ScenarioError
    also lists the mistakes that `build_world` finds.
    """
    try:
        return read_scenario(text, file)
    except ScenarioError as error:
        rest = readable_rest(text, file)
        if rest is None:
            raise
        mistakes = Mistakes([error.alone(), *error.more])
    with mistakes.collect(rest.location):
        build_world(rest, "default", machine_ms)
    mistakes.raise_error()
    raise AssertionError("a scenario with a shape error must have at least one mistake")


def _world_source(scenario: Scenario, mistakes: Mistakes) -> WorldSource:
    part = scenario.part
    at_ms = None
    if part.clock.at is not None:
        with mistakes.collect(scenario.location / "clock" / "at"):
            at_ms = parse_timestamp(part.clock.at)
    assumptions = Assumptions()
    for name, value in part.assumptions.items():
        with mistakes.collect(scenario.location / "assumptions" / name):
            assumptions = assumptions.changed({name: value})
    return WorldSource(
        mode=part.clock.mode,
        rate=part.clock.rate,
        at_ms=at_ms,
        assumptions=assumptions,
        scenario=_text_without_key_values(scenario),
        scenario_file=scenario.source.file,
        chosen=tuple(part.assumptions),
        has_own_seed=part.seed is not None,
    )


def _text_without_key_values(scenario: Scenario) -> str:
    """Return a scenario's text without API key values.

    If the text contains any, it is converted to JSON without them.
    """
    if "keys" not in scenario.text:
        return scenario.text
    document = without_key_values(scenario.source.data)
    if document == scenario.source.data:
        return scenario.text
    return msgspec.json.encode(document).decode()


def _check_records(scenario: Scenario, source: WorldSource, mistakes: Mistakes) -> None:
    part = scenario.part.world
    if part is None:
        return
    section = scenario.location / "world"
    whole = with_extended_world(part)
    prefix = source.assumptions.key_prefix
    for path, message in find_mistakes(part, whole, LATEST_MS, prefix):
        mistakes.append(section.below(path).error(message))


def _arm_rules(scenario: Scenario, change: Change, mistakes: Mistakes) -> None:
    """Arm the faults and outcomes that the scenario lists at its top level."""
    for section, category in _RULE_SECTIONS.items():
        for index, document in enumerate(getattr(scenario.part, section)):
            location = scenario.location / section / index
            with mistakes.collect(location):
                _check_no_variables(location, document)
                arm(change, document, category)
                continue
            kinds = [name for name in document if name in category.kinds]
            if len(kinds) == 1 and not any(variables_in(document)):
                # A mistake in a field of the rule must not hide a mistake in the effect.
                with mistakes.collect(location):
                    read_effect(kinds[0], document[kinds[0]], category)


def _plan(
    location: Location, order: int, planned: PlannedPart, change: Change, mistakes: Mistakes
) -> None:
    """Add a timeline entry to the world. If the entry has `at`, schedule an event for it."""
    action = _action_of(planned)
    document: dict[str, Any] = getattr(planned, action)
    with mistakes.collect(location):
        _check_no_variables(location / action, document)
        check_manual_change(location / action, document, change)
    with mistakes.collect(location):
        (location / "call").check_word("call", planned.call, ALL_CALLS)
    stored_document = without_key_values(document)
    if planned.optional and action != "intervene":
        stored_document = {**stored_document, "optional": True}
    key = f"planned-{order + 1:04d}"
    entry = TimelineEntry(
        order,
        action,
        stored_document,
        planned.after_calls,
        planned.call,
        optional=planned.optional,
    )
    change.put(TIMELINE, key, entry)
    if planned.at is None:
        return
    due_ms = moment_ms(planned.at, change.now_ms)
    if due_ms is None:
        message = f"at must be a duration after the start (10m) or a timestamp, not {planned.at!r}"
        mistakes.append((location / "at").error(message))
        return
    if due_ms < change.now_ms:
        start = format_timestamp(change.now_ms)
        message = (
            f"{planned.at} is before the world starts: write {start} or a later time, or a "
            "duration after the start, such as 10m"
        )
        mistakes.append((location / "at").error(message))
        return
    schedule_event(change, due_ms, "timeline", key)


def _action_of(planned: PlannedPart) -> TimelineAction:
    return next(action for action in TIMELINE_ACTIONS if getattr(planned, action) is not None)


def _check_no_variables(location: Location, document: Any) -> None:
    """Raise ScenarioError if a variable is used outside the story, where no values are saved."""
    for path, name in variables_in(document):
        message = f"${{{name}}} is unknown: only the steps of a story can use variables"
        raise location.below(path).error(message)


def _variation(scenario: Scenario, mistakes: Mistakes) -> Variation | None:
    vary = scenario.part.vary
    if vary is None:
        return None
    section = scenario.location / "vary"
    with mistakes.collect(section / "seed"):
        # Check the seed alone first, so that a mistake in `only` does not hide a mistake in the seed.
        read_variation(str(vary.seed))
        for index, point in enumerate(vary.only or ()):
            (section / "only" / index).check_word("variation point", point, POINTS)
        return read_variation(str(vary.seed), vary.only)
    return None
