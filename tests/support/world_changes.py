"""One world in this process, changed as through the control API.

`InProcess` changes its world directly. Here the history of the world also says what a person did,
which a recorded scenario repeats.
"""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.words import DocumentRefused
from hosting_emulator.control import clock, faults, worlds
from hosting_emulator.engine.history import SavedState
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.identity import endpoints as identity
from hosting_emulator.storage.documents import export_state, import_state
from hosting_emulator.world.value import World
from tests.support.calls import fault_document
from tests.support.in_process import InProcess


class ControlledWorld(InProcess):
    """The calls of one engine, whose world the handlers of the control API change."""

    def add_fault(self, **fault: Any) -> str:
        return str(faults.arm_fault(self.engine, fault_document(fault))["id"])

    def add_outcome(self, **outcome: Any) -> str:
        return str(faults.arm_outcome(self.engine, fault_document(outcome))["id"])

    def remove_fault(self, fault_id: str) -> None:
        faults.remove_fault(self.engine, fault_id)

    def intervene(self, name: str, /, **fields: Any) -> str:
        return faults.intervene(self.engine, {name: fields})["said"]

    def advance(self, duration: str) -> None:
        clock.advance_clock(self.engine, clock.Advance(by=duration))

    def set_assumptions(self, **values: Any) -> None:
        worlds.patch_assumptions(self.engine, values)

    def create_key_by_hand(self, who: str = "owner", name: str = "given") -> str:
        """Create an API key as the control API does, and return its value."""
        key = identity.create_api_key(self.engine, identity.NewKey(who=who, name=name))
        return str(key["value"])

    def owner_token(self) -> str:
        """Return a token of the owner, in whichever organization that user is at home."""
        person, home, _, _ = identity.claims_for(self.world, identity.NewToken(who="owner"))
        return self.engine.mint(person, home, "http://127.0.0.1")

    def rewind(self, world: World) -> None:
        """Put an earlier value of the world back."""
        self.engine.restore(SavedState(world, world.at_ms))


def reimported(world: World, *, with_seed: bool = False) -> World:
    """Return a world as a process has it that imports its export."""
    return import_state(export_state(world, with_seed=with_seed), "default", 0)


def needs_fields(intervention: str) -> bool:
    """Tell whether an intervention is refused where nothing but its name is written."""
    try:
        read_intervention({intervention: None})
    except DocumentRefused:
        return True
    return False
