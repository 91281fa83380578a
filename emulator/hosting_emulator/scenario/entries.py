"""Reports how a story used its faults, outcomes and timeline entries.

A story fails if one of these never acted, unless it is `optional`. The story also fails if it
removed one before it acted.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.triggers import rule_triggers, timeline_triggers
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.messages import StoryEntry, Trigger
from hosting_emulator.scenario.source import Location
from hosting_emulator.world.tables import TIMELINE


def entries_of(engine: Engine, top: Location, armed_at: Mapping[str, Location]) -> list[StoryEntry]:
    """Return the counts for each entry in a story and, if it never acted, the reason.

    `top` is the scenario's location. For each entry that a step armed, `armed_at` maps the entry's
    id to the step's location. It does not contain entries from the scenario's top level or
    timeline.
    """
    timeline = sorted((entry for _, entry in engine.world.rows(TIMELINE)), key=attrgetter("order"))
    locations = dict(armed_at)
    for entry in timeline:
        if entry.armed_id is not None:
            locations[entry.armed_id] = top / "timeline" / entry.order / entry.action
    entries = []
    for category in (FAULT, OUTCOME):
        for trigger in rule_triggers(engine, category, with_removed=True):
            location = locations.get(trigger.id) or _location_in_head(top, category, trigger)
            entries.append(_story_entry(trigger, location))
    for entry, trigger in zip(timeline, timeline_triggers(engine), strict=True):
        entries.append(_story_entry(trigger, top / "timeline" / entry.order))
    return entries


def unused_entries(entries: list[StoryEntry]) -> list[StoryEntry]:
    """Return the entries that make a story fail because they never acted and are not optional."""
    return [entry for entry in entries if entry.unused is not None and not entry.optional]


def _location_in_head(top: Location, category: RuleCategory, trigger: Trigger) -> Location:
    """Return the location of a fault or outcome that is armed at the scenario's top level."""
    ordinal = int(trigger.id.rpartition("-")[2])
    return top / f"{category.noun}s" / (ordinal - 1)


def _story_entry(trigger: Trigger, location: Location) -> StoryEntry:
    return StoryEntry(
        id=trigger.id,
        kind=trigger.kind,
        optional=trigger.optional,
        considered=trigger.considered,
        seen=trigger.seen,
        hits=trigger.hits,
        unused=trigger.unused,
        at=_path_text(location),
        line=location.line,
    )


def _path_text(location: Location) -> str:
    text = ""
    for part in location.path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")
