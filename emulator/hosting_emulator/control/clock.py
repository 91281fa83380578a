"""Control of a world's time: its clock, the operations that move with it, and its past.

The past are its last commits, snapshots set aside, and the way back to any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

from aiohttp import web
from msgspec.structs import asdict, replace

from hosting_emulator import messages
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.durations import format_duration, parse_duration_ms
from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine import history
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    ControlRefusal,
    Duration,
    Example,
    Mode,
    Timestamp,
    moment,
    refused_as,
    require,
)
from hosting_emulator.http.query import Limit, Query
from hosting_emulator.http.time_slices import LongJob, sort_in_slices
from hosting_emulator.messages import JsonObject
from hosting_emulator.world import views
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.plans import describe_state, is_finished, plan_of
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import API_KEYS, OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change, World

#: More changes of a commit than these are counted, not told.
_TOLD = 3


class ClockChange(Body):
    """The clock's new settings; omitted ones stay. `rate` is world seconds per real second."""

    mode: Mode | None = None
    rate: float | None = None
    at: Timestamp | None = None


class Advance(Body):
    """Exactly one of: a duration (`10m`, `90d`), a timestamp, the id of an operation that is to end."""

    by: Duration | None = None
    to: Timestamp | None = None
    until_operation: str | None = None


class Rewind(Body):
    """The commit to go back to."""

    commit: int


def get_clock(engine: Engine) -> messages.ClockState:
    """Show a world's time."""
    now_ms = engine.run_due()
    world = engine.world
    due_ms = world.next_due_ms
    return messages.ClockState(
        mode=world.clock.mode,
        now=format_timestamp(now_ms),
        rate=world.clock.rate,
        next_due_at=None if due_ms is None else format_timestamp(due_ms),
        next_event=_next_event(world),
        pending=world.count(SCHEDULE),
    )


def _next_event(world: World) -> str | None:
    """Say what is the next to come due, and of what; None when nothing is scheduled."""
    event = world.get(SCHEDULE, world.schedule[0][2]) if world.schedule else None
    if event is None:
        return None
    if event.kind == "timeline":
        return "the scenario's timeline continues"
    if event.kind == "dns_expiry":
        return f"the DNS authorization of {alias_of(world, PROJECTS, event.subject)} expires"
    operation = world.get(OPERATIONS, event.subject)
    if operation is None:
        return None
    following = plan_of(operation)[operation.step + 1]
    into = following.phase if following.state == operation.state else following.state
    return f"{_operation_title(world, operation)} becomes {into}"


def _operation_title(world: World, operation: Operation) -> str:
    """Return an operation's kind and project in words."""
    project = alias_of(world, PROJECTS, operation.project_id)
    return f"{operation.kind.replace('_', ' ')} of {project}"


def put_clock(
    engine: Engine, body: Annotated[ClockChange, Example({"mode": "frozen"})]
) -> messages.ClockState:
    """Change a clock's mode, rate or time. Moving back is refused (409)."""
    at_ms = None if body.at is None else moment(body.at)
    with refused_as(400 if at_ms is None else 409, "Clock refused", ClockRefused):
        engine.move_to(at_ms, body.mode, body.rate)
    return get_clock(engine)


def advance_clock(
    engine: Engine, body: Annotated[Advance, Example({"by": "10m"})]
) -> messages.ClockMove:
    """Move time by a duration, to a timestamp, or until an operation ends, and run all due events."""
    if sum(value is not None for value in (body.by, body.to, body.until_operation)) != 1:
        raise ControlRefusal(400, "Bad request", "give exactly one of by, to and until_operation")
    before_ms = engine.run_due()
    with refused_as(409, "Clock refused", ClockRefused):
        if body.until_operation is not None:
            events = _advance_until(engine, body.until_operation)
        elif body.by is not None:
            with refused_as(400, "Bad duration", ValueError):
                by_ms = parse_duration_ms(body.by)
            events = engine.move_by(by_ms)
        else:
            events = engine.move_to(moment(str(body.to)))
    moved_ms = engine.now_ms() - before_ms
    return messages.ClockMove(**asdict(get_clock(engine)), moved_ms=moved_ms, events_run=events)


def _advance_until(engine: Engine, operation_id: str) -> int:
    require(engine.world.get(OPERATIONS, operation_id), *_no_operation(operation_id))
    events = engine.move_until_ended(operation_id)
    if events is None:
        # Imported here: the first response does not wait for what few requests need.
        from hosting_emulator.engine.explanations.operations import standstill

        raise ControlRefusal(409, "Nothing is scheduled", standstill(engine, operation_id))
    return events


# --- operations ----------------------------------------------------------------------------------


async def list_operations(
    engine: Engine,
    unfinished: Annotated[bool, Query("Only operations that have not ended.")] = False,
) -> Iterator[messages.OperationState]:
    """List operations, oldest first; with `unfinished` only those that have not ended."""
    engine.run_due()
    world = engine.world
    rows = await operations_in_order(world, unfinished=unfinished)
    return (_operation_state(world, operation) for operation in rows)


def _operation_state(world: World, operation: Operation) -> messages.OperationState:
    return messages.OperationState(
        id=operation.id,
        kind=operation.kind,
        project=alias_of(world, PROJECTS, operation.project_id),
        state=operation.state,
        phase=operation.phase,
        stuck=operation.stuck,
        created_at=operation.created_at,
        updated_at=operation.updated_at,
    )


async def operations_in_order(world: World, *, unfinished: bool) -> Iterator[Operation]:
    """Return operations, oldest first; with `unfinished` those that have not ended."""
    rows = (operation for _, operation in world.rows(OPERATIONS))
    return await sort_in_slices(
        rows,
        key=lambda operation: (operation.created_ms, operation.id),
        condition=lambda operation: not (unfinished and is_finished(operation)),
    )


def _no_operation(operation_id: str) -> tuple[str, str]:
    return "No such operation", f"this world has no operation {operation_id[:40]!r}"


def why_operation(context: Context, engine: Engine, operation: str) -> JsonObject:
    """Explain an operation's state, what happens next and how to move it on."""
    # Imported here: the first answer is not to wait for what few ever ask.
    from hosting_emulator.engine.explanations.operations import why

    told = require(why(engine, operation), *_no_operation(operation))
    base_url, name = context.base_url, engine.world.name
    return {**told, "commands": [command_line(one, base_url, name) for one in told["commands"]]}


def step_operation(engine: Engine, operation: str) -> JsonObject:
    """Take an operation's next step now, and return it as the public API does."""
    from hosting_emulator.faults.interventions import read_intervention

    now_ms = engine.run_due()
    require(engine.world.get(OPERATIONS, operation), *_no_operation(operation))
    change, document = Change(engine.world, now_ms), {"step_operation": {"operation": operation}}
    with refused_as(409, "Operation not stepped", DocumentRefused):
        read_intervention(document).apply(change)
    shown = views.operation(change, change.row(OPERATIONS, operation))
    engine.commit(change, "operation stepped", {"intervene": document})
    return shown


# --- commits -------------------------------------------------------------------------------------


async def list_history(context: Context, engine: Engine, limit: Limit = 100) -> web.StreamResponse:
    """List the last commits, newest first; `first` is the oldest that is kept.

    `summary` describes what a commit changed if its title does not; otherwise it is empty.
    Commits that only count requests, for faults and the rate limit, are left out: to rewind to the
    first item keeps what was counted since.
    """
    engine.run_due()
    listed = [commit for commit in reversed(engine.history) if commit.is_listed]
    document = {"first": engine.history[0].number, "items": []}
    items = map(_commit_entry, listed[:limit])
    return await responses.json_list(context.request, document, "items", items)


def _commit_entry(commit: history.Commit) -> messages.CommitEntry:
    changes = [*_changes(commit)]
    more = [f"and {len(changes) - _TOLD} more"] if len(changes) > _TOLD else []
    summary = "; ".join([*changes[:_TOLD], *more])
    return messages.CommitEntry(
        commit=commit.world.commit,
        at=format_timestamp(commit.world.at_ms),
        title=commit.title,
        summary=summary,
    )


def find_state(engine: Engine, commit: int) -> World:
    """Return the world as it was after a commit that is kept. Raises ControlRefusal 404."""
    kept = f"the history goes from {engine.history[0].number} to {engine.world.commit}"
    detail = f"commit {commit} is not kept; {kept}"
    return require(engine.history.state_after(commit), "No such commit", detail)


def rewind(engine: Engine, body: Annotated[Rewind, Example({"commit": 1})]) -> Engine:
    """Rewind to the state after a commit, which is itself a new commit; 404 if that commit is not kept."""
    state = find_state(engine, body.commit)
    engine.restore(history.SavedState(state, state.at_ms), f"rewound to {body.commit}")
    return engine


def _changes(commit: history.Commit) -> Iterator[str]:
    """Say what a commit changed."""
    world, before = commit.world, commit.before
    # The fields of an intervention, as one types them.
    for fields in ((commit.manual_change or {}).get("intervene") or {}).values():
        if fields:
            yield " ".join(f"{name}={_named(value)}" for name, value in fields.items())
    for planned in sorted(history.planned_in(commit.writes), key=lambda one: not one.refused):
        yield f"the timeline: {planned.message}"
    if world.clock is not before.clock:
        new, old = world.clock, before.clock
        if (new.mode, new.rate) != (old.mode, old.rate):
            rate = f", {new.rate:g} times as fast" if new.mode == "scaled" else ""
            yield f"the clock is {new.mode}{rate}"
        if world.at_ms > before.at_ms:
            yield f"time moved by {format_duration(world.at_ms - before.at_ms)}"
    latest = {entered.operation.id: entered.operation for entered in commit.entered}
    for operation in latest.values():
        stuck = ", stuck" if operation.stuck else ""
        yield f"{_operation_title(world, operation)}: {describe_state(operation)}{stuck}"
    for id_, key in commit.writes.get(API_KEYS.name, {}).items():
        earlier = before.get(API_KEYS, id_)
        if key is not None and earlier is not None and earlier.last_used_at != key.last_used_at:
            yield f"the API key {key.name} was used"


def _named(value: Any) -> str:
    """Return a field's value in a few words; of a part of a world its name."""
    if isinstance(value, list):
        return ",".join(map(_named, value))
    named = value.get("alias") or value.get("user") if isinstance(value, dict) else value
    return " ".join(str(named).split())[:80]


# --- snapshots -----------------------------------------------------------------------------------


def list_snapshots(engine: Engine) -> list[messages.SnapshotState]:
    """List the snapshots, oldest first."""
    return [_snapshot(name, saved.world, saved.at_ms) for name, saved in engine.snapshots.items()]


def take_snapshot(engine: Engine) -> messages.SnapshotState:
    """Save a snapshot of the current state."""
    now_ms = engine.run_due()
    with refused_as(409, "Too many snapshots", history.TooManySnapshots):
        name = engine.snapshots.take(engine.world, now_ms)
    return _snapshot(name, engine.world, now_ms)


def _snapshot(name: str, world: World, at_ms: int) -> messages.SnapshotState:
    return messages.SnapshotState(id=name, commit=world.commit, at=format_timestamp(at_ms))


def restore_snapshot(engine: Engine, snapshot: str) -> Engine:
    """Restore state, clock, faults and assumptions from a snapshot."""
    engine.restore(_find_snapshot(engine, snapshot), f"{snapshot} restored")
    return engine


def delete_snapshot(engine: Engine, snapshot: str) -> None:
    """Delete a snapshot."""
    _find_snapshot(engine, snapshot)
    del engine.snapshots[snapshot]


def _find_snapshot(engine: Engine, name: str) -> history.SavedState:
    kept = ", ".join(engine.snapshots) or "none"
    detail = f"no snapshot is {name[:40]!r}; there are {kept}"
    return require(engine.snapshots.get(name), "No such snapshot", detail)


# --- the states that operations went through -----------------------------------------------------


async def show_timeline(engine: Engine, limit: Limit = 20) -> messages.Timeline:
    """List the newest operations, newest first, each with its states; `total` counts all.

    A span is a state, a phase, whether it was stuck, and its start and end; the
    last span of an unfinished operation has no end (`to` is null). The time before
    the oldest kept commit is one span in the state of that commit.
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
    spans: dict[str, list[messages.OperationSpan]] = {operation.id: [] for operation in newest}
    async with LongJob() as job:
        for place, commit in enumerate(commits):
            await job.pause()
            _add_spans(spans, commit, is_oldest=place == 0)
    items = [
        messages.OperationHistory(
            id=operation.id,
            kind=operation.kind,
            project=alias_of(world, PROJECTS, operation.project_id),
            state=operation.state,
            spans=spans[operation.id],
        )
        for operation in newest
    ]
    total = world.count(OPERATIONS)
    return messages.Timeline(now=format_timestamp(now_ms), total=total, items=items)


def _add_spans(
    spans: dict[str, list[messages.OperationSpan]], commit: history.Commit, *, is_oldest: bool
) -> None:
    """Add what a commit did to operations, each with its spans so far."""
    for entered in () if is_oldest else commit.entered:
        operation = entered.operation
        if operation.id in spans:
            _enter(spans[operation.id], operation, format_timestamp(entered.at_ms))
    put_in_place = is_oldest or not commit.writes
    for operation_id, spans_of_it in spans.items() if put_in_place else ():
        record = commit.world.get(OPERATIONS, operation_id)
        if record is None:  # the world went back to before it
            spans_of_it.clear()
        else:
            _enter(spans_of_it, record, format_timestamp(commit.world.at_ms))


def _enter(spans: list[messages.OperationSpan], record: Operation, at: str) -> None:
    """Begin a span when the record is in another state; being stuck begins with its commit, at `at`."""
    start = record.created_at
    if spans:
        last = spans[-1]
        has_moved = (last.state, last.phase) != (record.state, record.phase)
        if not has_moved and last.stuck == record.stuck:
            return
        start = record.updated_at if has_moved else at
        spans[-1] = replace(last, to=start)
    spans.append(
        messages.OperationSpan(
            state=record.state,
            phase=record.phase,
            stuck=record.stuck,
            from_=start,
            to=record.updated_at if is_finished(record) else None,
        )
    )
