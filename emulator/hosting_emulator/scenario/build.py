"""From a scenario's parts to a world that is ready, with faults armed and timeline set."""

from __future__ import annotations

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.assumptions import PERMISSIONS, Assumptions
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.faults.documents import arm
from hosting_emulator.scenario.document import Scenario
from hosting_emulator.scenario.source import Path
from hosting_emulator.scenario.validation import (
    check_no_variables,
    check_story,
    check_turn,
    known_word,
)
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator.world.operations import schedule_event
from hosting_emulator.world.population import WorldPart, new_world
from hosting_emulator.world.records import Origin, TimelineEntry, Variation
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Change, World


def build_world(scenario: Scenario, name: str, machine_ms: int, seed: str = DEFAULT_SEED) -> World:
    """Return the world of a scenario under a name. Raises ScenarioError, naming the place.

    The scenario's own seed comes first; `seed` is for one that names none, so that loading it keeps
    the ids and keys that people already use.
    """
    part, source = scenario.part, scenario.source
    origin = _origin(scenario)
    if part.world is not None:
        _check_aliases(scenario, part.world)
    with source.refusals_at(("clock",)):
        world = new_world(name, part.seed or seed, origin, machine_ms, part.world)
    change = Change(world, world.at_ms)
    for number, document in enumerate(part.faults):
        check_no_variables(scenario, ("faults", number), document)
        with source.refusals_at(("faults", number)):
            arm(change, document)
    _plan(scenario, change)
    check_story(scenario, change)
    return varied_world(world if change.empty else change.applied(), _variation(scenario))


def _origin(scenario: Scenario) -> Origin:
    part, source = scenario.part, scenario.source
    at_ms, assumptions = None, Assumptions()
    if part.clock.at is not None:
        with source.refusals_at(("clock", "at")):
            at_ms = parse_timestamp(part.clock.at)
    for name, value in part.assumptions.items():
        with source.refusals_at(("assumptions", name)):
            assumptions = assumptions.changed({name: value})
    return Origin(
        part.clock.mode,
        part.clock.rate,
        at_ms,
        assumptions,
        scenario.text,
        source.file,
        tuple(part.assumptions),
    )


def _variation(scenario: Scenario) -> Variation | None:
    vary = scenario.part.vary
    if vary is None:
        return None
    with scenario.source.refusals_at(("vary", "seed")):
        read_variation(str(vary.seed))
    for number, name in enumerate(vary.only or ()):
        known_word(scenario, ("vary", "only", number), "variation point", name, list(POINTS))
    return read_variation(str(vary.seed), vary.only)


def _check_aliases(scenario: Scenario, world: WorldPart) -> None:
    organizations = _distinct(scenario, "organizations", [o.alias for o in world.organizations])
    projects = _distinct(scenario, "projects", [p.alias for p in world.projects])
    _distinct(scenario, "people", [p.alias for p in world.people])
    for i, organization in enumerate(world.organizations):
        for j, permission in enumerate(organization.permissions or ()):
            path: Path = ("world", "organizations", i, "permissions", j)
            known_word(scenario, path, "permission", permission, PERMISSIONS)
    for i, project in enumerate(world.projects):
        database = project.database
        if database.data_mode == "shared" and database.dev != database.prod:
            raise scenario.source.error(
                ("world", "projects", i, "database"),
                "a shared database is one for both environments: give dev and prod the same state",
            )
        path = ("world", "projects", i, "organization")
        known_word(scenario, path, "organization", project.organization, organizations)
    for i, person in enumerate(world.people):
        for alias in person.organizations:
            path = ("world", "people", i, "organizations", alias)
            known_word(scenario, path, "organization", alias, organizations)
        for alias in person.projects:
            path = ("world", "people", i, "projects", alias)
            known_word(scenario, path, "project", alias, projects)


def _distinct(scenario: Scenario, section: str, aliases: list[str]) -> list[str]:
    for i, alias in enumerate(aliases):
        if alias in aliases[:i]:
            path = ("world", section, i, "alias")
            raise scenario.source.error(path, f"the alias {alias!r} is taken above")
    return aliases


def _plan(scenario: Scenario, change: Change) -> None:
    for order, planned in enumerate(scenario.part.timeline):
        path: Path = ("timeline", order)
        action = "fault" if planned.fault is not None else "intervene"
        found = planned.fault if planned.fault is not None else planned.intervene
        assert found is not None
        check_no_variables(scenario, (*path, action), found)
        check_turn(scenario, (*path, action), action, found, change)
        if planned.call is not None:
            calls = list(ALL_CALLS)
            known_word(scenario, (*path, "call"), "call", planned.call, calls)
        key = f"planned-{order + 1:04d}"
        record = TimelineEntry(
            order,
            "fault" if action == "fault" else "intervene",
            found,
            planned.after_calls,
            planned.call,
        )
        change.put(TIMELINE, key, record)
        if planned.at is not None:
            due_ms = _moment(scenario, (*path, "at"), planned.at, change.now_ms)
            schedule_event(change, due_ms, "timeline", key)


def _moment(scenario: Scenario, path: Path, text: str, now_ms: int) -> int:
    try:
        return now_ms + parse_duration_ms(text)
    except ValueError:
        pass
    try:
        return max(now_ms, parse_timestamp(text))
    except ValueError:
        message = f"{text!r} is neither a duration after the start (10m) nor a timestamp"
        raise scenario.source.error(path, message) from None
