"""An operation that fails with an error."""

from typing import ClassVar

from msgspec.structs import replace

from hosting_emulator.faults.outcomes import OperationPhase, OutcomeKind, Text
from hosting_emulator.world.records import OperationFailure, OperationOutcome


class Fail(OutcomeKind, frozen=True):
    """The operation fails at the end of a phase, with an error."""

    example: ClassVar = {"phase": "deploying", "code": "operation_failed"}
    steps = ("failed",)

    phase: OperationPhase = "deploying"
    code: Text = "operation_failed"
    message: Text = "The operation failed."
    retryable: bool = False
    suggested_action: Text = "Read the deployment logs, fix the cause and start a new operation."

    def operation_outcome(self, id_: str, call: str) -> OperationOutcome | None:
        outcome = super().operation_outcome(id_, call)
        if outcome is None:
            return None
        error = OperationFailure(self.code, self.message, self.retryable, self.suggested_action)
        return replace(outcome, failure=error)
