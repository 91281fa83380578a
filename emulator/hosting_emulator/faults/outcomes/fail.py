"""Makes an operation fail with an error."""

from typing import ClassVar

from msgspec.structs import replace

from hosting_emulator.faults.outcomes import OptionalPhase, OutcomeKind, Text
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.records import OperationFailure, OperationOutcome, PartialEffects


class Fail(OutcomeKind, frozen=True):
    """The operation fails at the end of a phase (default: deploying), with an error.

    With `while`, the operation instead fails as soon as the condition holds during the phase or, if
    no `phase` is set, during any running phase. `leaves` lists the effects that the operation
    leaves behind: `hosts`, `source`, `deployment` or `dns`.
    """

    example: ClassVar = {"phase": "deploying", "code": "operation_failed"}
    steps = ("failed",)

    phase: OptionalPhase = None
    leaves: PartialEffects | None = None
    code: Text = "operation_failed"
    message: Text = "The operation failed."
    retryable: bool = False
    suggested_action: Text = "Read the deployment logs, fix the cause and start a new operation."

    def operation_outcome(
        self, id_: str, call: str, condition: Condition | None = None
    ) -> OperationOutcome | None:
        outcome = super().operation_outcome(id_, call, condition)
        if outcome is None:
            return None
        error = OperationFailure(self.code, self.message, self.retryable, self.suggested_action)
        return replace(outcome, failure=error)
