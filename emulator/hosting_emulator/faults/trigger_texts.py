"""Describes what an armed fault or outcome does, and when it will act next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.faults.categories import MATCH_FIELDS, OUTCOME
from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.faults.nearest_requests import field_text
from hosting_emulator.faults.outcome_checks import possible_operations
from hosting_emulator.faults.outcomes import outcome_kinds, outcome_of
from hosting_emulator.faults.unused_entries import waiting_operation
from hosting_emulator.world.conditions import condition_text
from hosting_emulator.world.fault_records import Fault, Rule, is_spent
from hosting_emulator.world.plans import is_finished, is_held, outcome_phases
from hosting_emulator.world.tables import OPERATIONS, SCHEDULE
from hosting_emulator.world.value import World


def effect_text(kind: str, options: Mapping[str, Any]) -> str:
    """Describe a fault, an outcome or an intervention, such as `abort code=rate_limited`.

    Lists and mappings are abbreviated to `…`, because they can be long, and because those of the
    `add` intervention can contain secrets.
    """
    words = [kind]
    for name, value in options.items():
        text = "…" if isinstance(value, Mapping | list | tuple) else value_text(value)
        words.append(f"{name}={text}")
    return " ".join(words)


def waits_for(world: World, entry: Fault, now_ms: int) -> str | None:
    """Describe what a fault or an outcome is waiting for, or return None if it can no longer act."""
    is_outcome = entry.kind in outcome_kinds()
    if is_outcome:
        awaited_change = _awaited_change(world, entry, now_ms)
        if awaited_change is not None:
            return awaited_change
    if is_spent(entry, now_ms):
        return None
    subject = _subject(world, entry, is_outcome=is_outcome)
    matched_fields = [
        f"{name} {field_text(world, name, getattr(entry.rule, name))}"
        for name in MATCH_FIELDS
        if name != "call" and getattr(entry.rule, name)
    ]
    if matched_fields:
        subject += f" with {' and '.join(matched_fields)}"
    return ", ".join([subject, *_occasions(entry, now_ms)])


def _awaited_change(world: World, outcome: Fault, now_ms: int) -> str | None:
    """Describe what an outcome is waiting for in an operation to which it already applies.

    Return None if there is no such operation, or if the outcome is also waiting for further
    operations.
    """
    end_of_hold = _awaited_end_of_hold(world, outcome)
    if end_of_hold is not None:
        return end_of_hold
    operation = waiting_operation(world, outcome)
    if operation is None or is_finished(operation):
        return None
    condition = outcome.rule.while_
    if condition is None and not is_spent(outcome, now_ms):
        return None
    phases = " or ".join(outcome_phases(operation))
    if condition is None:
        return f"the end of the {phases} phase of operation {operation.id}"
    return f"{condition_text(condition)}, while operation {operation.id} is in the {phases} phase"


def _awaited_end_of_hold(world: World, outcome: Fault) -> str | None:
    """Describe what will end the outcome's hold on an operation, or return None if it is not
    holding one.
    """
    for _, operation in world.rows(OPERATIONS):
        if not is_held(operation) or operation.stuck_by != outcome.id:
            continue
        ends = []
        event = world.get(SCHEDULE, operation.event or "")
        if event is not None:
            ends.append(f"the time {format_timestamp(event.due_ms)}")
        if outcome.rule.while_ is not None:
            ends.append(f"the end of {condition_text(outcome.rule.while_)}")
        return f"{' or '.join(ends)}, to let operation {operation.id} continue"
    return None


def _subject(world: World, entry: Fault, *, is_outcome: bool) -> str:
    call = entry.rule.call
    if is_outcome:
        return _awaited_operation(world, entry)
    if stage_of(entry) == "handshake":
        return "a TLS handshake"
    noun = "read" if stage_of(entry) == "read" else "request"
    return f"a {noun} of {call}" if call else f"a {noun}"


def _awaited_operation(world: World, outcome: Fault) -> str:
    """Describe the operations on which an outcome can act."""
    calls = possible_operations(outcome_of(outcome), outcome.rule, OUTCOME.calls, world.assumptions)
    if len(calls) < len(OUTCOME.calls):
        return f"an operation that {' or '.join(calls)} begins"
    return "an operation"


def _occasions(entry: Fault, now_ms: int) -> Iterator[str]:
    """Yield phrases that describe on which of its matching requests an entry will act."""
    rule = entry.rule
    if rule.while_ is not None:
        yield f"while {condition_text(rule.while_)}"
    if rule.from_ms is not None and now_ms < rule.from_ms:
        yield f"from {rule.from_} on"
    if rule.until is not None:
        yield f"before {rule.until}"
    pause_end_ms = rule.pause_end_ms(now_ms)
    if pause_end_ms is not None:
        yield f"after the pause, which ends at {format_timestamp(pause_end_ms)}"
    skipped = _skipped_matches(rule, entry.seen)
    if skipped:
        yield "after 1 more match" if skipped == 1 else f"after {skipped} more matches"
    if rule.probability < 1:
        yield f"with probability {rule.probability:g}"
    if rule.times is not None and rule.times - entry.hits > 1:
        yield f"{rule.times - entry.hits} more times"


def _skipped_matches(rule: Rule, seen: int) -> int:
    """Return how many more matches `skip_first` and `every` skip before the entry acts again."""
    next_ordinal = seen + 1 - rule.skip_first
    acting_ordinal = -(-max(next_ordinal, 1) // rule.every) * rule.every
    return acting_ordinal - next_ordinal
