"""The endpoint that shows a world's clock and its next due event."""

from __future__ import annotations

from hosting_emulator import messages
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.control.operation_names import operation_title
from hosting_emulator.engine.engine import Engine
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.plans import plan_of
from hosting_emulator.world.records import Operation
from hosting_emulator.world.tables import OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import World


def get_clock(engine: Engine) -> messages.ClockState:
    """Show a world's clock, time and next due event."""
    now_ms = engine.run_due()
    world = engine.world
    next_due_at = None
    if world.next_due_ms is not None:
        next_due_at = format_timestamp(world.next_due_ms)
    return messages.ClockState(
        mode=world.clock.mode,
        now=format_timestamp(now_ms),
        rate=world.clock.rate,
        next_due_at=next_due_at,
        next_event=_next_event(world),
        pending=world.count(SCHEDULE),
    )


def _next_event(world: World) -> str | None:
    """Describe the next due event, or return None if no event is scheduled."""
    if not world.schedule:
        return None
    event = world.get(SCHEDULE, world.schedule[0][2])
    if event is None:
        return None
    if event.kind == "timeline":
        return "the scenario's timeline continues"
    if event.kind == "dns_expiry":
        return f"the DNS authorization of {alias_of(world, PROJECTS, event.subject)} expires"
    operation = world.get(OPERATIONS, event.subject)
    if operation is None:
        return None
    return f"{operation_title(world, operation)} becomes {_next_step(operation)}"


def _next_step(operation: Operation) -> str:
    """Return an operation's state after its next step, or its phase if the state stays the same."""
    step = plan_of(operation)[operation.step + 1]
    if step.state == operation.state:
        return step.phase
    return step.state
