"""Runs due events. Time changes a world in no other way.

Each event happens at the time at which it is due, even if it runs later. The results therefore do
not depend on how often the world is read.
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

#: Runs a timeline event. A higher layer supplies this function, because this package knows nothing
#: about faults.
TimelineRunner = Callable[[Change, str], None]


def run_due(
    world: World, now_ms: int, timeline_runner: TimelineRunner | None = None
) -> tuple[Change, int]:
    """Run all events that are due by `now_ms`. Return the change and the number of events."""
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
    # A renewed authorization has a new expiry, and a separate event.
    if dns is None or dns.expires_ms != event.due_ms:
        return
    if lifecycles.DNS_AUTHORIZATION.may(dns.status, "expired"):
        change.put(DNS, event.subject, replace(dns, status="expired"))
