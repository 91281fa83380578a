"""The triggers in a world: its faults, outcomes and timeline entries, and what each of them is
waiting for.

Stories, lists and reports all show the counts from this module.
"""

from __future__ import annotations

from operator import attrgetter

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.kinds import commit_phase_of
from hosting_emulator.faults.trigger_texts import effect_text, waits_for
from hosting_emulator.faults.unused_entries import unused_reason
from hosting_emulator.messages import Trigger
from hosting_emulator.world.fault_records import Fault, is_spent
from hosting_emulator.world.records import TimelineEntry
from hosting_emulator.world.tables import SCHEDULE, TIMELINE


def triggers_of(engine: Engine) -> list[Trigger]:
    """Return a world's triggers: faults, then outcomes, then timeline entries, each in order."""
    return [
        *rule_triggers(engine, FAULT),
        *rule_triggers(engine, OUTCOME),
        *timeline_triggers(engine),
    ]


def rule_triggers(
    engine: Engine, category: RuleCategory, *, with_removed: bool = False
) -> list[Trigger]:
    """Return a world's faults or outcomes, in the order in which they were armed.

    If `with_removed` is true, the result includes those that have been removed.
    """
    world = engine.world
    entries = faults_in_order(world, category.table)
    if with_removed:
        entries += [
            entry
            for entry in engine.usage.removed.values()
            if entry.id.startswith(f"{category.noun}-")
            and world.get(category.table, entry.id) is None
        ]
    return [
        _rule_trigger(engine, category, entry) for entry in sorted(entries, key=attrgetter("order"))
    ]


def _rule_trigger(engine: Engine, category: RuleCategory, entry: Fault) -> Trigger:
    world = engine.world
    now_ms = engine.now_ms()
    usage = engine.usage.of(entry.id)
    is_removed = world.get(category.table, entry.id) is None
    unused = unused_reason(usage, world, entry, now_ms)
    if is_removed and unused is not None and not entry.hits:
        unused = f"{entry.id} was removed before it acted; {unused}"
    return Trigger(
        id=entry.id,
        type="fault" if category is FAULT else "outcome",
        kind=entry.kind,
        effect=_rule_effect(category, entry),
        optional=entry.rule.optional,
        considered=usage.considered,
        seen=entry.seen,
        hits=entry.hits,
        spent=is_removed or is_spent(entry, now_ms),
        waits_for=None if is_removed else waits_for(world, entry, now_ms),
        unused=unused,
        result=None,
    )


def _rule_effect(category: RuleCategory, entry: Fault) -> str:
    text = effect_text(entry.kind, entry.options)
    if category is FAULT and commit_phase_of(entry) == "after_commit":
        return f"{text} after commit"
    return text


def timeline_triggers(engine: Engine) -> list[Trigger]:
    """Return the timeline's entries, in the order in which the scenario lists them."""
    rows = sorted(engine.world.rows(TIMELINE), key=lambda row: row[1].order)
    due_ms = {event.subject: event.due_ms for _, event in engine.world.rows(SCHEDULE)}
    return [_timeline_trigger(engine, entry, due_ms.get(key)) for key, entry in rows]


def _timeline_trigger(engine: Engine, entry: TimelineEntry, due_ms: int | None) -> Trigger:
    acted = int(entry.happened and not entry.refused)
    kind, options = next(iter(entry.document.items()), (entry.action, {}))
    awaited = None
    reason = None
    if not entry.happened:
        awaited, reason = _awaited(engine, entry, due_ms)
    return Trigger(
        id=f"timeline[{entry.order}]",
        type="timeline entry",
        kind=kind,
        effect=f"{entry.action} {effect_text(kind, options or {})}",
        optional=entry.optional,
        considered=acted,
        seen=acted,
        hits=acted,
        spent=entry.happened,
        waits_for=awaited,
        unused=reason,
        result=entry.message,
    )


def _awaited(engine: Engine, entry: TimelineEntry, due_ms: int | None) -> tuple[str, str]:
    """Return two clauses: what a timeline entry is waiting for, and why it has not acted yet."""
    if due_ms is not None:
        due = format_timestamp(due_ms)
        now = format_timestamp(engine.now_ms())
        return f"the world time {due}", f"the entry is due at {due}, but world time is {now}"
    count = entry.after_calls or 0
    calls = "1 more successful call" if count == 1 else f"{count} more successful calls"
    if entry.call:
        calls += f" of {entry.call}"
    return calls, f"the entry is waiting for {calls}"
