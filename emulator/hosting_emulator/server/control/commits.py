"""What commits of the history came to, and what the schedule has next, in words for people."""

from __future__ import annotations

from collections.abc import Iterator

from hosting_emulator.contract.durations import format_duration
from hosting_emulator.engine.history import Moment
from hosting_emulator.world.operations import plan_of
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import API_KEYS, OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import World

#: More things than these are counted, not told.
_TOLD = 3


def came_to(moment: Moment, before: World | None) -> str:
    """Say what a commit changed, in short; "" when its title says it all, or nothing is known.

    `before` is the world that the commit found; None when it is forgotten.
    """
    told = [*_clock(moment.world, before), *_operations(moment), *_keys(moment.world, before)]
    more = [f"and {len(told) - _TOLD} more"] if len(told) > _TOLD else []
    return "; ".join([*told[:_TOLD], *more])


def _clock(world: World, before: World | None) -> Iterator[str]:
    new = world.clock
    if before is None or new is before.clock:
        return
    old = before.clock
    if (new.mode, new.rate) != (old.mode, old.rate):
        rate = f", {new.rate:g} times as fast" if new.mode == "scaled" else ""
        yield f"the clock is {new.mode}{rate}"
    if world.at_ms > before.at_ms:
        yield f"time went on by {format_duration(world.at_ms - before.at_ms)}"


def _operations(moment: Moment) -> Iterator[str]:
    latest = {entered.id: entered for _, entered in moment.entered}
    for operation in latest.values():
        stuck = ", stuck" if operation.stuck else ""
        yield f"{_named(moment.world, operation)} is {_stands(operation)}{stuck}"


def _keys(world: World, before: World | None) -> Iterator[str]:
    if before is None or world.tables[API_KEYS.name] is before.tables[API_KEYS.name]:
        return
    for id_, key in world.rows(API_KEYS):
        old = before.get(API_KEYS, id_)
        if old is not None and old.last_used_at != key.last_used_at:
            yield f"the API key {key.name} was used"


def next_event(world: World) -> str | None:
    """Say what is the next to come due, and of what; None when nothing is scheduled."""
    event = world.get(SCHEDULE, world.schedule[0][2]) if world.schedule else None
    if event is None:
        return None
    if event.kind == "timeline":
        return "the scenario's timeline goes on"
    if event.kind == "dns_expiry":
        return f"the DNS authorization of {_alias(world, event.subject)} expires"
    operation = world.get(OPERATIONS, event.subject)
    if operation is None:
        return None
    following = plan_of(operation)[operation.step + 1]
    into = following.phase if following.state == operation.state else following.state
    return f"{_named(world, operation)} goes on to {into}"


def _stands(operation: Operation) -> str:
    running = operation.state == "running"
    return f"{operation.state} ({operation.phase})" if running else operation.state


def _named(world: World, operation: Operation) -> str:
    return f"{operation.kind.replace('_', ' ')} of {_alias(world, operation.project_id)}"


def _alias(world: World, project_id: str) -> str:
    project = world.get(PROJECTS, project_id)
    return project.alias if project else project_id
