"""A world's schedule, which lists the events that become due at specific world times.

This module only reads and writes the schedule. The `due_events` module runs the events.
"""

from __future__ import annotations

from hosting_emulator.world.records import EventKind, Operation, ScheduledEvent
from hosting_emulator.world.streams import next_number
from hosting_emulator.world.tables import OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change


def event_of(change: Change, operation: Operation) -> ScheduledEvent | None:
    """Return the next scheduled event of an operation, or None if no event is scheduled.

    If the operation is waiting for the claim, return the next event of the operation that holds it.
    """
    key = operation.event
    if key is None:
        claim = change.row(PROJECTS, operation.project_id).claim
        if claim is None:
            return None
        holder = change.get(OPERATIONS, claim)
        if holder is None or holder.event is None:
            return None
        key = holder.event
    return change.get(SCHEDULE, key)


def schedule_event(change: Change, due_ms: int, kind: EventKind, subject: str) -> str:
    """Schedule an event to run after all other events that are due at the same time. Return its key."""
    sequence = next_number(change, "schedule")
    key = str(sequence)
    change.put(SCHEDULE, key, ScheduledEvent(due_ms, sequence, kind, subject))
    return key
