"""Sentences about commits: which rows changed, and how operations and deployments changed."""

from __future__ import annotations

from collections.abc import Iterator

from hosting_emulator.engine.history import Commit, planned_in
from hosting_emulator.world import tables
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.plans import describe_state

#: The maximum number of changes that a sentence about a commit names. Any others are only counted.
_MOST_CHANGES = 6
#: The tables whose records have a status to describe, with the noun for such a record.
_NOUNS = {tables.DEPLOYMENTS.name: "deployment", tables.DNS.name: "DNS authorization"}


def explain_commit(commit: Commit) -> str:
    """Return a sentence about a commit: its number, the number of rows that it changed, and its
    main changes.
    """
    counts = ", ".join(
        f"{name.replace('_', ' ')} ({len(commit.writes[name])})"
        for name in tables.TABLES
        if commit.writes.get(name)
    )
    sentence = f"Commit {commit.world.commit} ({commit.title}) changed rows in {counts}"
    changes = "; ".join(describe_changes(commit))
    if changes:
        sentence += f": {changes}"
    return f"{sentence}."


def describe_changes(commit: Commit) -> list[str]:
    """Describe up to _MOST_CHANGES changes of state or status, and count the rest."""
    changes = [*_operation_changes(commit), *_status_changes(commit)]
    changes += [f"the timeline: {entry.message}" for entry in planned_in(commit.writes)]
    descriptions = changes[:_MOST_CHANGES]
    if len(changes) > _MOST_CHANGES:
        descriptions.append(f"and {len(changes) - _MOST_CHANGES} more")
    return descriptions


def _status_changes(commit: Commit) -> Iterator[str]:
    for table, noun in _NOUNS.items():
        for id_, record in commit.writes.get(table, {}).items():
            old = commit.before.get(tables.TABLES[table], id_)
            if record is None or (old is not None and old.status == record.status):
                continue
            project_id = getattr(record, "project_id", id_)
            project = alias_of(commit.world, tables.PROJECTS, project_id)
            change = f"the {noun} of {project} is {record.status}"
            if old is not None:
                change += f", was {old.status}"
            yield change


def _operation_changes(commit: Commit) -> Iterator[str]:
    for id_, operation in commit.writes.get(tables.OPERATIONS.name, {}).items():
        old = commit.before.get(tables.OPERATIONS, id_)
        if operation is None or (
            old is not None and describe_state(old) == describe_state(operation)
        ):
            continue
        project = alias_of(commit.world, tables.PROJECTS, operation.project_id)
        change = f"operation {id_} ({operation.kind} of {project}) is {describe_state(operation)}"
        first_and_last = {operation.state}
        if old is not None:
            change += f", was {describe_state(old)}"
            first_and_last.add(old.state)
        # A dict drops repeated states and preserves the order.
        states_between = dict.fromkeys(
            transition.operation.state
            for transition in commit.entered
            if transition.operation.id == id_ and transition.operation.state not in first_and_last
        )
        if states_between:
            change += f", after {' and '.join(states_between)}"
        yield change
