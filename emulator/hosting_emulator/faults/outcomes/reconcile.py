"""Makes an operation require reconciliation."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.durations import Duration
from hosting_emulator.faults.outcomes import OperationPhase, OutcomeKind, read_ms
from hosting_emulator.world.condition_records import Condition
from hosting_emulator.world.records import OperationOutcome


class Reconcile(OutcomeKind, frozen=True):
    """At the end of a phase, the operation requires `attempts` reconciliations, and then continues.

    With `then: exhaust`, the last attempt is exhausted, and the operation fails with
    reconciliation_exhausted. `each` is how long an attempt stays in each of its states. With
    `while`, the first reconciliation begins as soon as the condition holds during the phase.
    """

    example: ClassVar = {"attempts": 2, "then": "exhaust", "each": "5s"}

    phase: OperationPhase = "verifying"
    attempts: Annotated[int, Meta(ge=1, le=100)] = 1
    then: Literal["continue", "exhaust"] = "continue"
    each: Duration | None = None

    @property
    def reacts(self) -> bool:
        return True

    def operation_outcome(
        self, id_: str, call: str, condition: Condition | None = None
    ) -> OperationOutcome | None:
        step_ms = read_ms(self.each)
        outcome = super().operation_outcome(id_, call, condition)
        if outcome is None:
            return None
        steps = ("required", "running", "completed") * self.attempts
        if self.then == "exhaust":
            steps = (*steps[:-1], "exhausted")
        return replace(outcome, steps=steps, step_ms=step_ms)
