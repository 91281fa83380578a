"""The use of each fault, outcome and timeline entry in a story.

A story fails if an entry never acted, unless the entry is `optional`. This includes an entry that
the story itself removed before it acted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter

from msgspec.structs import asdict, replace

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.unused_entries import entry_counts
from hosting_emulator.messages import StoryEntry
from hosting_emulator.scenario.source import Location
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.records import TimelineEntry
from hosting_emulator.world.tables import SCHEDULE, TIMELINE


def entries_of(engine: Engine, top: Location, armed_at: Mapping[str, Location]) -> list[StoryEntry]:
    """Return the counts of every entry of a story. An entry that never acted has a reason.

    `top` is the location of the scenario. `armed_at` maps the ids of entries to the locations of
    the steps that armed them. Entries that are not in it were armed at the top level of the
    scenario or by its timeline.
    """
    timeline = sorted((entry for _, entry in engine.world.rows(TIMELINE)), key=attrgetter("order"))
    locations = dict(armed_at)
    for entry in timeline:
        if entry.armed_id is not None:
            locations[entry.armed_id] = top / "timeline" / entry.order / entry.action
    armed = [*_armed(engine, FAULT, top, locations), *_armed(engine, OUTCOME, top, locations)]
    return [*armed, *_planned(engine, top, timeline)]


def unused_entries(entries: list[StoryEntry]) -> list[StoryEntry]:
    """Return the entries that fail a story: those that never acted and are not optional."""
    return [entry for entry in entries if entry.unused is not None and not entry.optional]


def _armed(
    engine: Engine, family: RuleCategory, top: Location, locations: Mapping[str, Location]
) -> Iterator[StoryEntry]:
    world = engine.world
    now_ms = engine.now_ms()
    present = faults_in_order(world, family.table)
    removed = [
        entry
        for entry in engine.usage.removed.values()
        if entry.id.startswith(f"{family.noun}-") and world.get(family.table, entry.id) is None
    ]
    for entry in sorted([*present, *removed], key=attrgetter("order")):
        usage = engine.usage.of(entry.id)
        counts = entry_counts(usage, world, entry, now_ms)
        if counts.unused is not None and entry.id in engine.usage.removed and not entry.hits:
            reason = f"it was removed before it acted; {counts.unused}"
            counts = replace(counts, unused=reason)
        location = locations.get(entry.id) or _location_in_head(top, family, entry)
        yield StoryEntry(**asdict(counts), at=_path_text(location), line=location.line)


def _location_in_head(top: Location, family: RuleCategory, entry: Fault) -> Location:
    return top / f"{family.noun}s" / entry.order


def _path_text(location: Location) -> str:
    text = ""
    for part in location.path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _planned(engine: Engine, top: Location, timeline: list[TimelineEntry]) -> Iterator[StoryEntry]:
    due_ms = {event.subject: event.due_ms for _, event in engine.world.rows(SCHEDULE)}
    keys = {entry.order: key for key, entry in engine.world.rows(TIMELINE)}
    for entry in timeline:
        location = top / "timeline" / entry.order
        acted = int(entry.happened and not entry.refused)
        reason = None
        if not entry.happened:
            reason = _waiting(engine, entry, due_ms.get(keys[entry.order]))
        yield StoryEntry(
            id=_path_text(location),
            kind=next(iter(entry.document), entry.action),
            optional=entry.optional,
            considered=acted,
            seen=acted,
            hits=acted,
            unused=reason,
            at=_path_text(location),
            line=location.line,
        )


def _waiting(engine: Engine, entry: TimelineEntry, due_ms: int | None) -> str:
    """Return a sentence about what an entry of the timeline is still waiting for."""
    if due_ms is not None:
        now = format_timestamp(engine.now_ms())
        return f"it is due at {format_timestamp(due_ms)}, and the story ended at {now}"
    count = entry.after_calls or 0
    calls = "1 more successful call" if count == 1 else f"{count} more successful calls"
    call = f" of {entry.call}" if entry.call else ""
    return f"it waits for {calls}{call}"
