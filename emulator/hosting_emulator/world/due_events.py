"""Runs due events. The passage of time changes a world only through these events.

Each event takes effect at its due time, even if the event is run later. The state of a world
therefore does not depend on how often the world is read.
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

#: The type of the function that runs timeline events. A higher layer supplies the function, because
#: the `world` package must not depend on faults.
TimelineRunner = Callable[[Change, str], None]


def run_due(
    world: World, now_ms: int, timeline_runner: TimelineRunner | None = None
) -> tuple[Change, int]:
    """Run all events that are due by `now_ms`. Return the change and the number of events run."""
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
    # Ignore the event if the authorization was renewed, because the new expiry has another event.
    if dns is None or dns.expires_ms != event.due_ms:
        return
    if lifecycles.DNS_AUTHORIZATION.may(dns.status, "expired"):
        change.put(DNS, event.subject, replace(dns, status="expired"))
