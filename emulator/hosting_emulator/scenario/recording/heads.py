"""Writes the head of a recorded file, which describes the world at the start of the story."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.kinds import commit_phase_of, needs_running_clock
from hosting_emulator.faults.views import written_document
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import read_scenario, scenario_of
from hosting_emulator.scenario.source import Source
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.fault_records import Fault, is_spent
from hosting_emulator.world.population_export import describe_world
from hosting_emulator.world.records import TimelineEntry, WorldSource
from hosting_emulator.world.tables import (
    CLOCK,
    ORIGIN,
    RETRY_WAITS,
    SCHEDULE,
    SINGLETON_KEY,
    TABLES,
    TIMELINE,
)
from hosting_emulator.world.value import World

Document: TypeAlias = dict[str, Any]

_RULE_SECTIONS = {"faults": FAULT, "outcomes": OUTCOME}
#: The sections of a scenario that describe its world.
_WORLD_SECTIONS = ("world", "faults", "outcomes", "timeline")
#: Tables that a recorded file does not have to reproduce, because they are not part of the world's
#: content.
_RUN_TABLES = (CLOCK.name, ORIGIN.name, RETRY_WAITS.name)


@dataclass(frozen=True, slots=True)
class FileHead:
    """The head of a recorded file.

    `rule_ids` maps the ids of faults and outcomes in the recorded world to their ids in the world
    that the file describes. A fault or outcome that the file omits, because it is used up or needs
    a running clock, maps to an empty string.
    """

    document: Document
    rule_ids: dict[str, str] = field(default_factory=dict)


def original_head(world: World, name: str) -> FileHead | None:
    """Return a head that describes a world's initial state.

    Returns None if the world differs from what its source describes.
    """
    source = world.get(ORIGIN, SINGLETON_KEY) or WorldSource()
    document = _basic_head(world, world.at_ms, name)
    if source.scenario is not None:
        try:
            scenario = read_scenario(source.scenario, source.scenario_file or name)
        except ScenarioError:
            return None
        data = scenario.source.data
        document |= {section: data[section] for section in _WORLD_SECTIONS if section in data}
    if not describes_world(document, world, world.at_ms):
        return None
    return FileHead(document)


def head_of_state(world: World, at_ms: int, name: str) -> FileHead:
    """Return a head that describes a world's current state, as far as a file can describe it."""
    document = _basic_head(world, at_ms, name)
    document["world"] = _without_empty(msgspec.to_builtins(describe_world(world)))
    rule_ids: dict[str, str] = {}
    for section, category in _RULE_SECTIONS.items():
        rules = []
        for fault in faults_in_order(world, category.table):
            rule_ids[fault.id] = ""
            # The clock of a recorded story is frozen.
            if not is_spent(fault, at_ms) and not needs_running_clock(fault.kind):
                rules.append(_remaining_rule(world, fault, category))
                rule_ids[fault.id] = f"{category.noun}-{len(rules)}"
        if rules:
            document[section] = rules
    timeline = list(_remaining_timeline(world))
    if timeline:
        document["timeline"] = timeline
    return FileHead(document, rule_ids)


def describes_world(document: Document, world: World, at_ms: int) -> bool:
    """Return whether a file's head describes a world's records exactly."""
    try:
        scenario = scenario_of(Source("", {**document, "description": "-"}, {}, {}))
        built = build_world(scenario, world.name, at_ms)
    except ScenarioError:
        return False
    if clocks.with_skew_of(built.clock, world.clock) != built.clock:
        return False  # a file cannot express a skewed clock
    names = [name for name in TABLES if name not in _RUN_TABLES]
    return all(built.tables[name] == world.tables[name] for name in names)


def moment_text(at_ms: int) -> str:
    """Format a time as a timestamp, without milliseconds if they are 0."""
    return format_timestamp(at_ms).replace(".000Z", "Z")


def _basic_head(world: World, at_ms: int, name: str) -> Document:
    """Return the head's name, description, seed, clock, assumptions and variation."""
    document: Document = {
        "name": name,
        "description": "",
        "seed": world.seed,
        "clock": {"mode": "frozen", "at": moment_text(at_ms)},
    }
    assumptions = _named_assumptions(world)
    if assumptions:
        document["assumptions"] = assumptions
    if world.variation is not None:
        document["vary"] = {"seed": world.variation.seed}
        if world.variation.only is not None:
            document["vary"]["only"] = list(world.variation.only)
    return document


def _named_assumptions(world: World) -> dict[str, Any]:
    """Return the assumptions that a user set, but not those drawn by a variation."""
    source = world.get(ORIGIN, SINGLETON_KEY) or WorldSource()
    assumptions: dict[str, Any] = world.assumptions.changes()
    # List every assumption that a user set, even if it has its default value, because a variation
    # must not change it.
    for name in source.chosen:
        assumptions.setdefault(name, msgspec.to_builtins(getattr(world.assumptions, name)))
    if world.variation is not None:
        for name in world.variation.assumed:
            assumptions.pop(name, None)
    return assumptions


def _remaining_rule(world: World, fault: Fault, category: RuleCategory) -> Document:
    """Return a fault or an outcome as a document, with its remaining counts."""
    document = written_document(world, fault)
    if category is OUTCOME or commit_phase_of(fault) is not None:
        document["after_commit"] = fault.rule.after_commit
    document["optional"] = fault.rule.optional
    for name, count in (("times", fault.hits), ("skip_first", fault.seen)):
        if document.get(name):
            document[name] = max(0, document[name] - count)
    fields = (fault.kind, *category.fields)
    return {name: value for name, value in document.items() if name in fields and value != 0}


def _remaining_timeline(world: World) -> Iterator[Document]:
    """Yield the timeline entries that can still act, as documents."""
    due_ms = {event.subject: event.due_ms for _, event in world.rows(SCHEDULE)}
    for key, entry in sorted(world.rows(TIMELINE), key=lambda row: row[1].order):
        document = _timeline_entry(entry, due_ms.get(key))
        if not entry.happened and document is not None:
            yield document


def _timeline_entry(entry: TimelineEntry, due_ms: int | None) -> Document | None:
    """Return a timeline entry as a document, or None if the entry can no longer act."""
    document: Document = {}
    if due_ms is not None:
        document["at"] = moment_text(due_ms)
    if entry.after_calls:
        document["after_calls"] = entry.after_calls
    if not document:
        return None
    if entry.call:
        document["call"] = entry.call
    if entry.optional:
        document["optional"] = True
    document[entry.action] = entry.document
    return document


def _without_empty(value: Any) -> Any:
    """Return a copy of a document without empty mappings."""
    if isinstance(value, dict):
        return {name: _without_empty(member) for name, member in value.items() if member != {}}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value
