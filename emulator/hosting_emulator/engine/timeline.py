"""Carries out the entries in a scenario's timeline (faults, outcomes and interventions) when they
are due.

This module only works on a change, and does not use the engine. If an entry is no longer possible,
for example because its operation has ended, it is marked as refused. No exception is raised,
because the remaining events must still run. The history, the events and the reports show the
refusal, and a story with a refused entry fails.
"""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.world.records import TimelineEntry
from hosting_emulator.world.tables import FAULTS, TIMELINE
from hosting_emulator.world.value import Change


def run_timeline_entry(change: Change, key: str) -> None:
    """Carry out a timeline entry, and store the result in it."""
    entry = change.row(TIMELINE, key)
    attempt = change.fork()
    try:
        if entry.action == "intervene":
            result, armed_id = _intervene(change, attempt, entry)
        else:
            family = FAULT if entry.action == "fault" else OUTCOME
            armed_id = arm(attempt, entry.document, family).id
            result = f"{armed_id} was armed"
    except DocumentRefused as error:
        result = f"{next(iter(entry.document))} was refused: {error}"
        entry = replace(entry, happened=True, message=result, refused=True, armed_id=None)
    else:
        change.merge(attempt)
        entry = replace(entry, happened=True, message=result, refused=False, armed_id=armed_id)
    change.put(TIMELINE, key, entry)


def _intervene(change: Change, attempt: Change, entry: TimelineEntry) -> tuple[str, str | None]:
    """Apply a timeline entry's intervention to `attempt`, which is a fork of `change`.

    Returns a message about the result, and the id of the fault that the intervention armed, if any.
    """
    result = read_intervention(entry.document).apply(attempt)
    armed_id = _armed_by(change, attempt)
    if armed_id is not None and entry.optional:
        fault = attempt.row(FAULTS, armed_id)
        rule = replace(fault.rule, optional=True)
        attempt.put(FAULTS, armed_id, replace(fault, rule=rule))
    return result, armed_id


def _armed_by(change: Change, attempt: Change) -> str | None:
    """Return the id of the fault that was armed in a fork of a change, or None if none was."""
    ids_before = {id_ for id_, _ in change.applied().rows(FAULTS)}
    new_ids = (id_ for id_, _ in attempt.applied().rows(FAULTS) if id_ not in ids_before)
    return next(new_ids, None)


def count_call(change: Change, call_id: str) -> None:
    """Count a successful call for the entries that are waiting for it, and carry out those that are
    now due.
    """
    for key, entry in sorted(change.world.rows(TIMELINE), key=lambda row: row[1].order):
        if entry.happened or not entry.after_calls or entry.call not in (None, call_id):
            continue
        waiting = change.row(TIMELINE, key)
        remaining = (waiting.after_calls or 1) - 1
        change.put(TIMELINE, key, replace(waiting, after_calls=remaining))
        if remaining == 0:
            run_timeline_entry(change, key)
