"""Protected faults: faults, outcomes and interventions that a judge puts into all worlds of a process.

A client cannot remove them: they return after a reset, a scenario load, a state import, a rewind and
the removal of faults, and later worlds have them too. All worlds share the counts, so the n-th request
of a call is the n-th that the client sends to any world.

They belong to the process and not to a world: an exported state has none, and a world on disk never
gets one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, get_args
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.arming import read_fault
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.messages import ProtectedKind
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.value import Change, World, apply

#: Protected faults come after all other faults of a world.
_FIRST_ORDER = 1_000_000_000
_FAMILIES = {"fault": FAULT, "outcome": OUTCOME}
#: The kinds of what a judge can protect, as its document names them.
KINDS = get_args(ProtectedKind)


class ProtectedFault:
    """One fault, outcome or intervention in every world of its scope.

    `names` are the worlds of the scope; copies of them belong to it too. None: all worlds.
    """

    def __init__(
        self,
        id_: str,
        kind: ProtectedKind,
        document: Mapping[str, Any],
        names: Collection[str] | None,
    ) -> None:
        self.id = id_
        self.kind = kind
        self.document = document
        self.names = None if names is None else set(names)
        #: The fault with its counts, from the world of the latest request. None: an intervention.
        self.fault: Fault | None = None
        #: How many lives of worlds an intervention was applied to.
        self.applied = 0
        self._lives: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    @property
    def family(self) -> RuleCategory:
        """Whether it is a fault or an outcome."""
        return _FAMILIES[self.kind]

    def covers(self, world: World) -> bool:
        """Return whether a world belongs to its scope."""
        return self.names is None or world.name in self.names

    def put(self, change: Change, engine: object, life: int) -> None:
        """Put it into a world that lacks it. `life` counts how often the world's log was cleared."""
        if self.fault is not None:
            if change.world.get(self.family.table, self.id) != self.fault:
                change.put(self.family.table, self.id, self.fault)
        elif self._lives.get(engine) != life:
            self._lives[engine] = life
            # An intervention need not make sense in each world.
            with suppress(DocumentRefused):
                read_intervention(self.document).apply(change)
                self.applied += 1

    def take_counts(self, world: World) -> None:
        """Copy the counts of a world."""
        if self.fault is not None:
            counted = world.get(self.family.table, self.id)
            if counted is not None:
                self.fault = counted


class ProtectedFaults:
    """All protected faults of a process, by id."""

    def __init__(self) -> None:
        self._by_id: dict[str, ProtectedFault] = {}
        self._count = 0

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._by_id)

    def add(
        self,
        kind: ProtectedKind,
        document: Mapping[str, Any],
        names: Collection[str] | None,
        world: World,
    ) -> ProtectedFault:
        """Add a document of one of KINDS. Its names are looked up in `world`. Raises DocumentRefused."""
        order = _FIRST_ORDER + self._count
        # A world keeps a fault under an id that follows from its order.
        id_ = f"{kind}-{order + 1}"
        protected = ProtectedFault(id_, kind, document, names)
        if kind == "intervention":
            read_intervention(document)
        else:
            fault = read_fault(Change(world, world.at_ms), document, protected.family)
            protected.fault = replace(fault, id=id_, order=order)
        self._count += 1
        self._by_id[id_] = protected
        return protected

    def get(self, id_: str) -> ProtectedFault | None:
        """Return the protected fault of this id, if there is one."""
        return self._by_id.get(id_)

    def remove(self, protected: ProtectedFault) -> None:
        """End its protection. Worlds keep it until it is deleted there."""
        self._by_id.pop(protected.id, None)

    def copy_scope(self, source: str, name: str) -> None:
        """Add a copy of a world to all scopes of its source."""
        for protected in self._by_id.values():
            if protected.names is not None and source in protected.names:
                protected.names.add(name)

    def put_into(self, change: Change, engine: object, life: int) -> None:
        """Add all protected faults that a world lacks, in the order in which they were added here."""
        for protected in self._by_id.values():
            if protected.covers(change.world):
                protected.put(change, engine, life)

    def take_counts(self, world: World) -> None:
        """Copy the counts of a world to all faults whose scope it belongs to."""
        for protected in self._by_id.values():
            if protected.covers(world):
                protected.take_counts(world)


def without_protected(world: World) -> World:
    """Return a world without protected faults, which belong to a judge and not to the world."""
    change = Change(world, world.at_ms)
    for family in _FAMILIES.values():
        for fault in world.tables[family.table.name].values():
            if fault.order >= _FIRST_ORDER:
                change.delete(family.table, fault.id)
    if not any(change.writes.values()):
        return world
    return apply(world, change.writes, commit=world.commit, at_ms=world.at_ms)
