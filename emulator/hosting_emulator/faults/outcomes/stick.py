"""Holds an operation in a phase."""

from typing import ClassVar

from msgspec.structs import replace

from hosting_emulator.contract.durations import Duration
from hosting_emulator.faults.outcomes import OperationPhase, OutcomeKind, read_ms
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.records import OperationOutcome


class Stick(OutcomeKind, frozen=True, rename={"for_": "for"}):
    """The operation gets stuck in a phase until release_operation releases it.

    With `for`, the operation continues after this much world time in the phase. With `while`, it
    continues when the condition no longer holds.
    """

    example: ClassVar = {"phase": "verifying"}
    steps = ("stuck",)

    phase: OperationPhase = "verifying"
    for_: Duration | None = None

    def operation_outcome(
        self, id_: str, call: str, condition: Condition | None = None
    ) -> OperationOutcome | None:
        hold_ms = read_ms(self.for_)
        outcome = super().operation_outcome(id_, call, condition)
        if outcome is None or (hold_ms is None and condition is None):
            return outcome
        return replace(outcome, steps=("stuck", "released"), hold_ms=hold_ms)
