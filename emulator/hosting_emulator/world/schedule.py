"""Running what is due: the only way time changes a world.

Each event happens at its own moment, however late it is noticed, so what a client sees does not
depend on how often anybody looks.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from hosting_emulator.world import lifecycles, operations
from hosting_emulator.world.records import ScheduledEvent
from hosting_emulator.world.streams import next_number
from hosting_emulator.world.tables import DNS, SCHEDULE
from hosting_emulator.world.value import Change, World

#: Carries out an event of the timeline, which only higher floors know how to do.
Planner = Callable[[Change, str], None]


def run_due(
    world: World, now_ms: int, carry_out: Planner | None = None
) -> tuple[Change, int] | None:
    """Return the change that everything due by `now_ms` makes, and the number of events; None: nothing."""
    if world.next_due_ms is None or world.next_due_ms > now_ms:
        return None
    change = Change(world, world.at_ms)
    count = 0
    while (key := change.next_due(now_ms)) is not None:
        event = change.row(SCHEDULE, key)
        change.delete(SCHEDULE, key)
        change.now_ms = max(change.now_ms, event.due_ms)
        if event.kind == "timeline":
            if carry_out is not None:
                carry_out(change, event.subject)
        else:
            _happen(change, event)
        count += 1
    return change, count


def _happen(change: Change, event: ScheduledEvent) -> None:
    if event.kind == "operation_step":
        operations.step(change, event.subject)
    else:
        _expire_dns(change, event)


def schedule_dns_expiry(change: Change, project_id: str, due_ms: int) -> None:
    """Put the expiry of a project's DNS authorization on the schedule."""
    sequence = next_number(change, "schedule")
    change.put(SCHEDULE, str(sequence), ScheduledEvent(due_ms, sequence, "dns_expiry", project_id))


def _expire_dns(change: Change, event: ScheduledEvent) -> None:
    dns = change.get(DNS, event.subject)
    # A renewed authorization has another expiry, and its own event.
    if dns is None or dns.status != "authorized" or dns.expires_ms != event.due_ms:
        return
    status = lifecycles.DNS_AUTHORIZATION.move(dns.status, "expired")
    change.put(DNS, event.subject, replace(dns, status=status))
