"""Runs due events, which are the only way in which the passage of time changes a world.

An event takes effect as of its due time, even if it is run later. How often a world is read
therefore makes no difference to its state.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from hosting_emulator.world import lifecycles
from hosting_emulator.world.operations import step
from hosting_emulator.world.reactions import react
from hosting_emulator.world.records import ScheduledEvent
from hosting_emulator.world.tables import DNS, SCHEDULE
from hosting_emulator.world.value import Change, World

#: The type of the function that runs timeline events. A higher layer supplies the function because
#: the `world` package must not depend on the `faults` package.
TimelineRunner = Callable[[Change, str], None]


def run_due(
    world: World, now_ms: int, timeline_runner: TimelineRunner | None = None
) -> tuple[Change, int]:
    """Run all events that are due by `now_ms`. Return the resulting change and the number of events."""
    change = Change(world, world.at_ms)
    count = 0
    key = change.next_due(now_ms)
    while key is not None:
        event = change.row(SCHEDULE, key)
        change.delete(SCHEDULE, key)
        change.now_ms = max(change.now_ms, event.due_ms)
        if event.kind == "operation_step":
            step(change, event.subject)
        elif event.kind == "dns_expiry":
            _expire_dns(change, event)
        elif timeline_runner is not None:
            timeline_runner(change, event.subject)
        react(change)
        count += 1
        key = change.next_due(now_ms)
    return change, count


def _expire_dns(change: Change, event: ScheduledEvent) -> None:
    dns = change.get(DNS, event.subject)
    # If the authorization was renewed, ignore this event, because the new expiry has an event of
    # its own.
    if dns is None or dns.expires_ms != event.due_ms:
        return
    if lifecycles.DNS_AUTHORIZATION.may(dns.status, "expired"):
        change.put(DNS, event.subject, replace(dns, status="expired"))
