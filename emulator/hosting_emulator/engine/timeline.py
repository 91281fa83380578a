"""The timeline: faults and interventions that a scenario planned, carried out when their time comes."""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Change


def carry_out(change: Change, key: str) -> None:
    """Do what an entry of the timeline says, and note in it what came of that.

    What makes no sense any more (an operation that has ended, say) is noted, not raised: time goes
    on.
    """
    # Imported here: only a world with a timeline needs to read faults and interventions.
    from hosting_emulator.faults.documents import FaultRefused, arm
    from hosting_emulator.interventions import InterventionRefused, read_intervention

    planned = change.row(TIMELINE, key)
    attempt = change.fork()
    try:
        if planned.action == "fault":
            said = f"{arm(attempt, planned.document).id} was armed"
        else:
            said = read_intervention(planned.document).apply(attempt)
        change.take(attempt)
    except (FaultRefused, InterventionRefused) as refused:
        said = f"refused: {refused}"
    change.put(TIMELINE, key, replace(planned, done=True, said=said))


def count_call(change: Change, call_id: str) -> None:
    """Count a successful call for the entries that wait for it, and carry out those it completes."""
    waiting = sorted(
        (
            (planned.order, key)
            for key, planned in change.world.rows(TIMELINE)
            if not planned.done and planned.after_calls and planned.call in (None, call_id)
        ),
    )
    for _, key in waiting:
        planned = change.row(TIMELINE, key)
        left = (planned.after_calls or 1) - 1
        change.put(TIMELINE, key, replace(planned, after_calls=left))
        if left == 0:
            carry_out(change, key)
