"""The endpoint that shows a world's timeline: the states that its operations have been in."""

from __future__ import annotations

from itertools import islice
from typing import TypeAlias

from msgspec.structs import replace

from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import Commit
from hosting_emulator.http.query import Limit
from hosting_emulator.http.time_slices import LongJob, sort_in_slices
from hosting_emulator.messages import OperationHistory, OperationSpan, Timeline
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.plans import is_finished
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS

#: The spans of each operation, oldest first, by the operation's id.
Spans: TypeAlias = dict[str, list[OperationSpan]]


async def show_timeline(engine: Engine, limit: Limit = 20) -> Timeline:
    """List the newest operations, newest first, with the states that each has been in.

    `total` is the total number of operations. A span is a period during which an operation's state
    and phase, and whether it was stuck, did not change. The last span of an unfinished operation
    has no end (`to` is null). The time before the oldest stored commit is shown as a single span
    with the state after that commit.
    """
    now_ms = engine.run_due()
    world = engine.world
    commits = list(engine.history)
    by_age = await sort_in_slices(
        (operation for _, operation in world.rows(OPERATIONS)),
        key=lambda operation: (parse_timestamp(operation.created_at), operation.id),
        reverse=True,
    )
    newest = list(islice(by_age, limit))
    spans: Spans = {operation.id: [] for operation in newest}
    async with LongJob() as job:
        _enter_current_states(spans, commits[0])
        for commit in commits[1:]:
            await job.pause()
            _enter_transitions(spans, commit)
    items = [
        OperationHistory(
            id=operation.id,
            kind=operation.kind,
            project=alias_of(world, PROJECTS, operation.project_id),
            state=operation.state,
            spans=spans[operation.id],
        )
        for operation in newest
    ]
    total = world.count(OPERATIONS)
    return Timeline(now=format_timestamp(now_ms), total=total, items=items)


def _enter_transitions(spans: Spans, commit: Commit) -> None:
    """Add the states that operations entered in a commit to their spans."""
    for transition in commit.entered:
        operation = transition.operation
        if operation.id in spans:
            _enter_state(spans[operation.id], operation, format_timestamp(transition.at_ms))
    if not commit.writes:
        # Read all states, because a commit without writes replaced the whole world.
        _enter_current_states(spans, commit)


def _enter_current_states(spans: Spans, commit: Commit) -> None:
    """Add the states of all operations after a commit to their spans."""
    at = format_timestamp(commit.world.at_ms)
    for operation_id, operation_spans in spans.items():
        operation = commit.world.get(OPERATIONS, operation_id)
        if operation is None:
            # The world went back to a time before the operation started, so drop its spans.
            operation_spans.clear()
        else:
            _enter_state(operation_spans, operation, at)


def _enter_state(spans: list[OperationSpan], operation: Operation, at: str) -> None:
    """End the last span and start a new one, unless the operation is unchanged.

    If the state or phase has changed, the new span starts at the operation's `updated_at`. If the
    operation has only become stuck or been released, it starts at `at`.
    """
    start = operation.created_at
    if spans:
        last = spans[-1]
        if (last.state, last.phase) != (operation.state, operation.phase):
            start = operation.updated_at
        elif last.stuck != operation.stuck:
            start = at
        else:
            return
        spans[-1] = replace(last, to=start)
    end = operation.updated_at if is_finished(operation) else None
    spans.append(
        OperationSpan(
            state=operation.state,
            phase=operation.phase,
            stuck=operation.stuck,
            from_=start,
            to=end,
        )
    )
