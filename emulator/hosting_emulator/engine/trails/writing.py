"""What commits wrote: by table and number of rows, and what happened to the things in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hosting_emulator.engine.trail import Committed
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import DEPLOYMENTS, DNS, OPERATIONS, PROJECTS, TABLES, TIMELINE
from hosting_emulator.world.value import World

#: More things than these are counted, not told.
_TOLD = 6
_KINDS = {DEPLOYMENTS.name: "deployment", DNS.name: "DNS authorization"}


def commit_of(found: Committed, before: World) -> str:
    """Say what a commit wrote."""
    wrote = ", ".join(
        f"{name.replace('_', ' ')} {len(found.writes[name])}"
        for name in TABLES
        if found.writes.get(name)
    )
    told = "; ".join(happened(found, before))
    return (
        f"Commit {found.world.commit} ({found.title}) wrote {wrote}{f': {told}' if told else ''}."
    )


def happened(found: Committed, before: World) -> list[str]:
    """Tell what changed its state, in short; of many things, how many more."""
    told = list(_changes(found, before))
    return told[:_TOLD] + ([f"and {len(told) - _TOLD} more"] if len(told) > _TOLD else [])


def _changes(found: Committed, before: World) -> Iterator[str]:
    ways = _ways(found, before)
    for id_, operation in found.writes.get(OPERATIONS.name, {}).items():
        old = before.get(OPERATIONS, id_)
        if operation is not None and (old is None or _stands(old) != _stands(operation)):
            of = (
                f"operation {id_} ({operation.kind} of {_alias(found.world, operation.project_id)})"
            )
            by_way = f", by way of {' and '.join(ways[id_])}" if id_ in ways else ""
            yield f"{of} is {_stands(operation)}{f', was {_stands(old)}' if old else ''}{by_way}"
    for table in (DEPLOYMENTS, DNS):
        for id_, record in found.writes.get(table.name, {}).items():
            yield from _status(found.world, before, table.name, id_, record)
    for _, planned in found.writes.get(TIMELINE.name, {}).items():
        if planned is not None and planned.done:
            yield f"the timeline: {planned.said}"


def _ways(found: Committed, before: World) -> dict[str, list[str]]:
    """Return by operation the states that a commit took it through, between its first and last."""
    ways: dict[str, list[str]] = {}
    for _, entered in found.entered:
        old, new = before.get(OPERATIONS, entered.id), found.world.get(OPERATIONS, entered.id)
        ends = [end.state for end in (old, new) if end is not None]
        if entered.state not in ends and entered.state not in ways.get(entered.id, ()):
            ways.setdefault(entered.id, []).append(entered.state)
    return ways


def _status(world: World, before: World, name: str, id_: str, record: Any) -> Iterator[str]:
    table = TABLES[name]
    old = before.get(table, id_)
    if record is None or (old is not None and old.status == record.status):
        return
    project = _alias(world, getattr(record, "project_id", id_))
    was = f", was {old.status}" if old else ""
    yield f"the {_KINDS[name]} of {project} is {record.status}{was}"


def _stands(operation: Operation) -> str:
    running = operation.state == "running"
    return f"{operation.state} ({operation.phase})" if running else operation.state


def _alias(world: World, project_id: str) -> str:
    project = world.get(PROJECTS, project_id)
    return project.alias if project else project_id
