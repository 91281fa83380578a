"""Control of a world's past: its last commits, snapshots set aside, and the way back to any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import (
    CAPACITY,
    FAULTS_COUNTED,
    RATE_COUNTED,
    Commit,
    SavedState,
    TooManySnapshots,
    planned_in,
)
from hosting_emulator.server.control.context import Body, Limit, found, refused_as
from hosting_emulator.server.control.worlds import (
    find_moment,
    operation_title,
    operation_view,
)
from hosting_emulator.world.operations import finished, stands
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import API_KEYS, OPERATIONS
from hosting_emulator.world.value import World

Span = dict[str, Any]
#: More changes of a commit than these are counted, not told.
_TOLD = 3


class Rewind(Body):
    """The commit to go back to."""

    commit: int


def list_history(engine: Engine, limit: Limit = 100) -> dict[str, Any]:
    """List the last commits, newest first; `first` is the oldest that is kept.

    `says` summarizes what a commit changed if its title does not; otherwise it is empty.
    Commits that only count requests, for faults and the rate limit, are left out.
    """
    engine.run_due()
    kept = [
        moment
        for moment in engine.history.newest(CAPACITY)
        if moment.title not in (FAULTS_COUNTED, RATE_COUNTED)
    ][: limit + 1]
    before = [*(moment.world for moment in kept[1:]), None]
    items = [
        {
            "commit": moment.world.commit,
            "at": format_timestamp(moment.world.at_ms),
            "title": moment.title,
            "says": _summary(moment, world_before),
        }
        for moment, world_before in zip(kept[:limit], before, strict=False)
    ]
    return {"first": engine.history.first, "items": items}


def rewind(engine: Engine, body: Rewind) -> Engine:
    """Rewind to the state after a commit, which is itself a new commit; 404 if that commit is not kept."""
    state = find_moment(engine, body.commit).world
    engine.restore(SavedState(state, state.at_ms), f"rewound to {body.commit}")
    return engine


# --- what a commit changed, in words -------------------------------------------------------------


def _summary(moment: Commit, before: World | None) -> str:
    """Say what a commit changed, in short; "" when its title says it all, or nothing is known.

    `before` is the world that the commit found; None when it is forgotten.
    """
    planned = sorted(planned_in(moment.writes), key=lambda one: not one.refused)
    changes = [
        *_intervened(moment.turn or {}),
        *(f"the timeline: {one.said}" for one in planned),
        *_clock_changes(moment.world, before),
        *_operation_changes(moment),
        *_key_uses(moment.world, before),
    ]
    more = [f"and {len(changes) - _TOLD} more"] if len(changes) > _TOLD else []
    return "; ".join([*changes[:_TOLD], *more])


def _intervened(turn: Mapping[str, Any]) -> Iterator[str]:
    """Give the fields of an intervention as one types them; of parts of a world, their names."""
    for fields in (turn.get("intervene") or {}).values():
        if fields:
            yield " ".join(f"{name}={_named(value)}" for name, value in fields.items())


def _named(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_named, value))
    named = value.get("alias") or value.get("person") if isinstance(value, dict) else value
    return " ".join(str(named).split())[:80]


def _clock_changes(world: World, before: World | None) -> Iterator[str]:
    new = world.clock
    if before is None or new is before.clock:
        return
    old = before.clock
    if (new.mode, new.rate) != (old.mode, old.rate):
        rate = f", {new.rate:g} times as fast" if new.mode == "scaled" else ""
        yield f"the clock is {new.mode}{rate}"
    if world.at_ms > before.at_ms:
        yield f"time moved by {format_duration(world.at_ms - before.at_ms)}"


def _operation_changes(moment: Commit) -> Iterator[str]:
    latest = {entered.id: entered for _, entered in moment.entered}
    for operation in latest.values():
        stuck = ", stuck" if operation.stuck else ""
        yield f"{operation_title(moment.world, operation)}: {stands(operation)}{stuck}"


def _key_uses(world: World, before: World | None) -> Iterator[str]:
    if before is None or world.tables[API_KEYS.name] is before.tables[API_KEYS.name]:
        return
    for id_, key in world.rows(API_KEYS):
        old = before.get(API_KEYS, id_)
        if old is not None and old.last_used_at != key.last_used_at:
            yield f"the API key {key.name} was used"


# --- snapshots -----------------------------------------------------------------------------------


def list_snapshots(engine: Engine) -> list[dict[str, Any]]:
    """List the snapshots, oldest first."""
    return [_snapshot_view(name, snapshot) for name, snapshot in engine.snapshots.items()]


def take_snapshot(engine: Engine) -> dict[str, Any]:
    """Save a snapshot of the current state."""
    now_ms = engine.run_due()
    with refused_as(409, "Too many snapshots", TooManySnapshots):
        name = engine.snapshots.take(engine.world, now_ms)
    return _snapshot_view(name, SavedState(engine.world, now_ms))


def restore_snapshot(engine: Engine, snapshot: str) -> Engine:
    """Restore state, clock, faults and assumptions from a snapshot."""
    engine.restore(_find_snapshot(engine, snapshot), f"{snapshot} restored")
    return engine


def delete_snapshot(engine: Engine, snapshot: str) -> None:
    """Delete a snapshot."""
    _find_snapshot(engine, snapshot)
    del engine.snapshots[snapshot]


def _find_snapshot(engine: Engine, name: str) -> SavedState:
    kept = ", ".join(engine.snapshots) or "none"
    detail = f"no snapshot is {name[:40]!r}; there are {kept}"
    return found(engine.snapshots.get(name), "No such snapshot", detail)


def _snapshot_view(name: str, snapshot: SavedState) -> dict[str, Any]:
    world, at_ms = snapshot
    return {"id": name, "commit": world.commit, "at": format_timestamp(at_ms)}


# --- the states that operations went through -----------------------------------------------------


def show_timeline(engine: Engine, limit: Limit = 20) -> dict[str, Any]:
    """List the newest operations, newest first, each with its states; `total` counts all.

    A span is a state, a phase, whether it was stuck, and its start and end; the
    last span of an unfinished operation has no end (`to` is null). The time before
    the oldest kept commit is one span in the state of that commit.
    """
    now_ms = engine.run_due()
    world = engine.world
    rows = (operation for _, operation in world.rows(OPERATIONS))
    newest = sorted(rows, key=lambda row: (parse_timestamp(row.created_at), row.id), reverse=True)
    spans = _spans(engine, newest[:limit])
    items = [
        {**operation_view(world, operation), "spans": spans[operation.id]}
        for operation in newest[:limit]
    ]
    return {"now": format_timestamp(now_ms), "total": world.count(OPERATIONS), "items": items}


def _spans(engine: Engine, operations: list[Operation]) -> dict[str, list[Span]]:
    """Walk the history once; a record that is still the same object has not changed."""
    seen: dict[str, Operation | None] = {}
    spans: dict[str, list[Span]] = {operation.id: [] for operation in operations}
    for place, moment in enumerate(reversed(engine.history.newest(CAPACITY))):
        state = moment.world
        for at_ms, entered in moment.entered if place else ():
            if entered.id in spans:
                _enter(spans[entered.id], entered, format_timestamp(at_ms))
        for operation_id, spans_of_it in spans.items():
            record = state.get(OPERATIONS, operation_id)
            if record is seen.get(operation_id):
                continue
            if record is None:  # the world went back to before it
                spans_of_it.clear()
            else:
                _enter(spans_of_it, record, format_timestamp(state.at_ms))
            seen[operation_id] = record
    return spans


def _enter(spans: list[Span], record: Operation, at: str) -> None:
    """Begin a span when the record is in another state; being stuck begins with its commit, at `at`."""
    last = spans[-1] if spans else None
    entered: Span = {"state": record.state, "phase": record.phase, "stuck": record.stuck}
    start = record.created_at
    if last is not None:
        moved = (last["state"], last["phase"]) != (record.state, record.phase)
        if not moved and last["stuck"] == record.stuck:
            return
        start = record.updated_at if moved else at
        last["to"] = start
    end = record.updated_at if finished(record) else None
    spans.append({**entered, "from": start, "to": end})
