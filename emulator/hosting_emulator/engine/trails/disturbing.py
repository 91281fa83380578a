"""Which faults saw a request, which of them acted, and why the others did not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.fault_answers import fault_kind
from hosting_emulator.engine.request_log import Entry
from hosting_emulator.engine.trail import Committed
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import World


def faults_of(
    entry: Entry, world: World, commits: Sequence[tuple[Committed, World]]
) -> Iterator[str]:
    """Say of each fault that matched whether it acted, and how many more are armed."""
    acted = {fault.id for fault in entry.acted}
    for fault in entry.acted:
        yield f"{fault.id} ({fault_kind(fault)}, {fault.phase}) acted, its hit {fault.hits}."
    seen: set[str] = set()
    for made, _ in commits:
        if made.title != "faults counted":
            continue
        for id_, fault in made.writes.get(FAULTS.name, {}).items():
            seen.add(id_)
            if fault is not None and id_ not in acted:
                yield f"{id_} ({fault_kind(fault)}) matched and did not act: {_idle(fault, entry)}."
    if entry.lost is not None:
        yield f"The answer did not arrive: {entry.lost}."
    others = world.count(FAULTS) - len(seen | acted)
    if others > 0 and entry.principal is not None:
        yield f"{others} armed {'fault does' if others == 1 else 'faults do'} not match the request."


def _idle(fault: Fault, entry: Entry) -> str:
    if fault.from_ms is not None and entry.at_ms < fault.from_ms:
        return f"its time begins at {format_timestamp(fault.from_ms)}"
    if fault.until_ms is not None and entry.at_ms >= fault.until_ms:
        return f"its time ended at {format_timestamp(fault.until_ms)}"
    if fault.times is not None and fault.hits >= fault.times:
        return f"it has acted its {fault.times} times"
    number = fault.seen - fault.skip_first
    if number <= 0:
        return f"it skips the first {fault.skip_first}, and this was number {fault.seen}"
    if (number - 1) % fault.every:
        return f"it acts on every {fault.every}th, and this was number {number}"
    if fault.probability < 1:
        return f"its probability is {fault.probability:g}, and chance was against it"
    return "its limit is not reached"
