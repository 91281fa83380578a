"""One world in this process, which the handlers of the control API change.

`InProcess` changes its world directly. The handlers also record each manual change in the history
of the world, so that a recorded scenario can repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.control import (
    assumptions,
    clock_changes,
    faults,
    history,
    interventions,
    outcomes,
    tokens,
)
from hosting_emulator.control.armed_rules import arm_rule
from hosting_emulator.engine.history import SavedState
from hosting_emulator.faults.categories import FAULT
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.http.endpoint import ControlRefusal
from hosting_emulator.storage.export import export_state, import_state
from hosting_emulator.world.value import World
from tests.support.calls import fault_document
from tests.support.in_process import InProcess


class ControlledWorld(InProcess):
    """The calls of one world. The handlers of the control API change the world."""

    def add_fault(self, **fault: Any) -> str:
        return str(arm_rule(self.engine, fault_document(fault), FAULT)["id"])

    def add_outcome(self, **outcome: Any) -> str:
        return str(outcomes.arm_outcome(self.engine, fault_document(outcome))["id"])

    def remove_fault(self, fault_id: str) -> None:
        faults.remove_fault(self.engine, fault_id)

    def remove_outcome(self, outcome_id: str) -> None:
        outcomes.remove_outcome(self.engine, outcome_id)

    def clear_faults(self) -> None:
        faults.clear_faults(self.engine)

    def intervene(self, name: str, /, **fields: Any) -> str:
        return interventions.intervene(self.engine, {name: fields}).message

    def advance(self, duration: str) -> None:
        clock_changes.advance_clock(self.engine, clock_changes.Advance(by=duration))

    def advance_until_ended(self, operation_id: str) -> None:
        """Move time forward until an operation has ended."""
        clock_changes.advance_clock(
            self.engine, clock_changes.Advance(until_operation=operation_id)
        )

    def set_clock(self, mode: Any, rate: float | None = None) -> None:
        clock_changes.put_clock(self.engine, clock_changes.ClockChange(mode=mode, rate=rate))

    def set_assumptions(self, **values: Any) -> None:
        assumptions.patch_assumptions(self.engine, values)

    def create_key_by_hand(self, user: str = "owner", name: str = "given") -> str:
        """Create an API key like the control API, and return its value."""
        key = tokens.create_api_key(self.engine, tokens.NewKey(user=user, name=name))
        return key.value

    def user_token(self, user: str, *, interactive: bool = True) -> str:
        """Return a new token for a user and their home organization, with the default lifetime."""
        claims = tokens.token_claims(self.world, tokens.NewToken(user=user))
        return self.engine.mint(
            claims.user, claims.organization_id, "http://127.0.0.1", interactive=interactive
        )

    def rewindable_commits(self, count: int) -> list[int]:
        """Return the numbers of the last `count` commits, latest first.

        If a request has several commits, only the last of these commits is included.
        """
        inner_numbers = {
            commit.number for entry in self.engine.log.after(0) for commit in entry.commits[:-1]
        }
        latest = [*reversed(self.engine.history)][:count]
        return [commit.number for commit in latest if commit.number not in inner_numbers]

    def rewind_to_commit(self, number: int) -> None:
        history.rewind_world(self.engine, number)

    def rewind(self, world: World, saved_ms: int | None = None) -> None:
        """Restore an earlier state of the world, which was saved at its last change or later."""
        self.engine.restore(SavedState(world, world.at_ms if saved_ms is None else saved_ms))


@contextmanager
def refusals_allowed() -> Iterator[None]:
    """Ignore a refusal by the control API in a block."""
    with suppress(ControlRefusal):
        yield


def export_and_import(world: World, *, with_seed: bool = False) -> World:
    """Export a world, and return the world that a process would import from the document."""
    return import_state(export_state(world, with_seed=with_seed), "default", 0)


def needs_fields(intervention: str) -> bool:
    """Return whether an intervention is refused if only its name is given."""
    try:
        read_intervention({intervention: None})
    except DocumentRefused:
        return True
    return False
