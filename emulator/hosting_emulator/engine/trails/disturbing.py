"""Which faults saw a request, which of them acted, and why the others did not.

Each is told where it came on the way of the request: before the call, or after its commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.fault_answers import fault_kind
from hosting_emulator.engine.request_log import Entry
from hosting_emulator.engine.trail import Committed
from hosting_emulator.engine.trails import writing
from hosting_emulator.world.fault_records import Fault, Phase
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import World

#: The title of the commits that count what faults have seen.
_TITLE = "faults counted"
Made = tuple[Committed, World]
"""A commit, and the world before it."""


class Counts:
    """The commits of an exchange: those that counted faults, by phase, and `others`, in order."""

    def __init__(self, commits: Sequence[Made]) -> None:
        self.others = [made for made in commits if made[0].title != _TITLE]
        self._counting = [made for made in commits if made[0].title == _TITLE]

    def of(self, phase: Phase) -> list[Made]:
        """Return the commits that counted the faults of a phase; a request has at most one."""
        return [made for made in self._counting if any(one.phase == phase for one in _seen(made))]

    @property
    def seen(self) -> set[str]:
        """The ids of all faults that were counted."""
        return {fault.id for made in self._counting for fault in _seen(made)}


def before_commit(entry: Entry, world: World, counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield the steps of the faults that come before the call, and how many match nothing here."""
    yield from _of_phase(entry, counts, "before_commit")
    others = world.count(FAULTS) - len(counts.seen | {fault.id for fault in entry.acted})
    if others > 0 and entry.principal is not None:
        do = "fault does" if others == 1 else "faults do"
        yield "fault", f"{others} armed {do} not match the request."


def after_commit(entry: Entry, counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield the steps of the faults that come after the commit, and what became of the answer."""
    yield from _of_phase(entry, counts, "after_commit")
    if entry.lost is not None:
        yield "fault", f"The answer did not arrive: {entry.lost}."


def _of_phase(entry: Entry, counts: Counts, phase: Phase) -> Iterator[tuple[str, str]]:
    acted = {fault.id for fault in entry.acted}
    for fault in entry.acted:
        if fault.phase == phase:
            yield "fault", f"{fault.id} ({fault_kind(fault)}, {phase}) acted, its hit {fault.hits}."
    for made in counts.of(phase):
        for fault in _seen(made):
            if fault.id not in acted:
                idle = _idle(fault, entry)
                yield "fault", f"{fault.id} ({fault_kind(fault)}) matched and did not act: {idle}."
        yield "fault", writing.commit_of(*made)


def _seen(made: Made) -> list[Fault]:
    return [fault for fault in made[0].writes.get(FAULTS.name, {}).values() if fault is not None]


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
