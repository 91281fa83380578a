"""Summarizes the changes in a commit in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.control.operation_names import operation_title
from hosting_emulator.engine.history import Commit, planned_in
from hosting_emulator.world.plans import describe_state
from hosting_emulator.world.tables import API_KEYS

#: A summary describes at most this many changes, and gives only the number of any further changes.
_MOST_CHANGES = 3
_LONGEST_VALUE = 80


def summarize_commit(commit: Commit) -> str:
    """Return a one-line summary of the changes in a commit.

    The summary is empty if the commit's title already describes all of them.
    """
    changes = list(_changes(commit))
    phrases = changes[:_MOST_CHANGES]
    if len(changes) > _MOST_CHANGES:
        phrases.append(f"and {len(changes) - _MOST_CHANGES} more")
    return "; ".join(phrases)


def _changes(commit: Commit) -> Iterator[str]:
    """Yield a phrase for each change in a commit."""
    yield from _intervention_fields(commit)
    for entry in sorted(planned_in(commit.writes), key=lambda entry: not entry.refused):
        yield f"the timeline: {entry.message}"
    yield from _clock_changes(commit)
    yield from _operation_changes(commit)
    yield from _key_uses(commit)


def _intervention_fields(commit: Commit) -> Iterator[str]:
    """Yield an intervention's fields in the form in which they are written on the command line."""
    manual_change = commit.manual_change or {}
    interventions = manual_change.get("intervene") or {}
    for fields in interventions.values():
        if fields:
            yield " ".join(f"{name}={_field_value(value)}" for name, value in fields.items())


def _clock_changes(commit: Commit) -> Iterator[str]:
    world = commit.world
    clock = world.clock
    previous = commit.before.clock
    if clock is previous:
        return
    if (clock.mode, clock.rate) != (previous.mode, previous.rate):
        rate = ""
        if clock.mode == "scaled":
            rate = f" to {clock.rate:g}x real time"
        yield f"the clock is {clock.mode}{rate}"
    if world.at_ms > commit.before.at_ms:
        yield f"time moved by {format_duration(world.at_ms - commit.before.at_ms)}"


def _operation_changes(commit: Commit) -> Iterator[str]:
    """Yield a phrase for each operation that changed its state in the commit, with its latest state."""
    latest = {transition.operation.id: transition.operation for transition in commit.entered}
    for operation in latest.values():
        stuck = ", stuck" if operation.stuck else ""
        yield f"{operation_title(commit.world, operation)}: {describe_state(operation)}{stuck}"


def _key_uses(commit: Commit) -> Iterator[str]:
    for id_, key in commit.writes.get(API_KEYS.name, {}).items():
        previous = commit.before.get(API_KEYS, id_)
        if key is None or previous is None:
            continue
        if previous.last_used_at != key.last_used_at:
            yield f"the API key {key.name} was used"


def _field_value(value: Any) -> str:
    """Format a field's value on one line. Each single value is truncated to 80 characters.

    Records such as users are represented by their aliases.
    """
    if isinstance(value, list):
        return ",".join(map(_field_value, value))
    if isinstance(value, dict):
        value = value.get("alias") or value.get("user")
    one_line = " ".join(value_text(value).split())
    return one_line[:_LONGEST_VALUE]
