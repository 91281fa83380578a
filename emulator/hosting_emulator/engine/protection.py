"""Protected faults: faults, outcomes and interventions that a judge adds to a process's worlds.

Clients cannot remove protected faults. Protected faults are added again after a reset, a scenario
load, a state import, a rewind or the removal of all faults, and are also added to new worlds in
their scope. All worlds in the scope share a protected fault's counts. A protected fault for the
n-th request for a call therefore counts the requests to all of these worlds together.

Protected faults belong to the process rather than to a world. They are never added to a world on
disk. Exported states, and copies that are stored on disk, do not contain them.
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

#: The order of the first protected fault. In a world, protected faults come after all other faults.
_FIRST_ORDER = 1_000_000_000
_FAMILIES = {"fault": FAULT, "outcome": OUTCOME}
#: The kinds of documents that a judge can protect.
KINDS = get_args(ProtectedKind)


class ProtectedFault:
    """A fault, an outcome or an intervention that is added to every world in its scope.

    `names` are the names of the worlds in the scope, or None for all worlds. Copies of these worlds
    are in the scope as well, unless they are stored on disk.
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
        #: The fault, with the counts from the world that received the latest request. None for an
        #: intervention.
        self.fault: Fault | None = None
        #: How many times the intervention was applied: once to each world, and again whenever a
        #: world is reset or replaced.
        self.applied = 0
        self._lives: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    @property
    def family(self) -> RuleCategory:
        """The rule's category: fault or outcome."""
        return _FAMILIES[self.kind]

    def covers(self, world: World) -> bool:
        """Return whether a world is in the scope."""
        return self.names is None or world.name in self.names

    def put(self, change: Change, engine: object, life: int) -> None:
        """Add this fault to a world, unless the world already has it.

        `life` is how many times the world's log has been cleared.
        """
        if self.fault is not None:
            if change.world.get(self.family.table, self.id) != self.fault:
                change.put(self.family.table, self.id, self.fault)
        elif self._lives.get(engine) != life:
            self._lives[engine] = life
            # Ignore the refusal: an intervention does not have to be possible in every world.
            with suppress(DocumentRefused):
                read_intervention(self.document).apply(change)
                self.applied += 1

    def take_counts(self, world: World) -> None:
        """Copy this fault's counts from a world."""
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
        """Return whether there are any protected faults."""
        return bool(self._by_id)

    def add(
        self,
        kind: ProtectedKind,
        document: Mapping[str, Any],
        names: Collection[str] | None,
        world: World,
    ) -> ProtectedFault:
        """Add a fault, an outcome or an intervention from its document.

        Names in the document are looked up in `world`. Raises DocumentRefused.
        """
        order = _FIRST_ORDER + self._count
        # In a world, a fault is stored under an id that is derived from its order.
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
        """Return the protected fault with this id, or None if there is none."""
        return self._by_id.get(id_)

    def remove(self, protected: ProtectedFault) -> None:
        """End the protection of a fault.

        Each world keeps the fault until it is deleted there.
        """
        self._by_id.pop(protected.id, None)

    def copy_scope(self, source: str, name: str) -> None:
        """Add the world `name`, a copy of `source`, to all scopes that contain `source`."""
        for protected in self._by_id.values():
            if protected.names is not None and source in protected.names:
                protected.names.add(name)

    def put_into(self, change: Change, engine: object, life: int) -> None:
        """Add all missing protected faults to a world, in the order in which the judge added them."""
        for protected in self._by_id.values():
            if protected.covers(change.world):
                protected.put(change, engine, life)

    def take_counts(self, world: World) -> None:
        """Copy the counts from a world to all protected faults that have the world in their scope."""
        for protected in self._by_id.values():
            if protected.covers(world):
                protected.take_counts(world)

    def without_removed(self, world: World) -> World:
        """Return a copy of an earlier world without the faults whose protection has ended since."""
        return without_protected(world, self._by_id)


def without_protected(world: World, except_ids: Collection[str] = ()) -> World:
    """Return a copy of a world without the protected faults, which belong to a judge.

    The copy keeps the faults with the ids in `except_ids`.
    """
    change = Change(world, world.at_ms)
    for family in _FAMILIES.values():
        for fault in world.tables[family.table.name].values():
            if fault.order >= _FIRST_ORDER and fault.id not in except_ids:
                change.delete(family.table, fault.id)
    if not any(change.writes.values()):
        return world
    return apply(world, change.writes, commit=world.commit, at_ms=world.at_ms)
