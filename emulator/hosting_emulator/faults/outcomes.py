"""Outcomes: how the next operation ends, set in advance.

A kind is a struct. Its fields are its options, and its docstring is its help text. It creates the record
that an operation carries from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.durations import format_duration, parse_duration_ms
from hosting_emulator.world import lifecycles
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.plans import DEPLOYING_PLAN, INITIALIZE, PLAIN_PLAN
from hosting_emulator.world.records import OperationFailure, OperationOutcome

OperationPhase = Literal["queued", "building", "deploying", "verifying"]
Text = Annotated[str, Meta(min_length=1)]


def phases_of(call: str | None) -> tuple[str, ...]:
    """Return the phases of an operation that a call begins, without the final one."""
    plan = DEPLOYING_PLAN if call in (None, INITIALIZE) else PLAIN_PLAN
    return tuple(step.phase for step in plan[:-1])


class OutcomeKind(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """Base of all kinds. `queued` and `running` are durations: how long the operation is each.

    `steps` happen one after the other at the end of the phase `at` (see `OperationOutcome`).
    """

    example: ClassVar[Mapping[str, Any]] = {}
    steps: ClassVar[tuple[str, ...]] = ()

    queued: str | None = None
    running: str | None = None

    def __post_init__(self) -> None:
        self.operation_outcome("", INITIALIZE)  # which reads each duration

    @property
    def at(self) -> str:
        """The phase at whose end the steps happen. Empty: there are no steps."""
        return getattr(self, "phase", "")

    def operation_outcome(self, id_: str, call: str) -> OperationOutcome | None:
        """Return the outcome of an operation that a call begins. None: it has no phase `at`."""
        if self.at and self.at not in phases_of(call):
            return None
        return OperationOutcome(
            id=id_,
            kind=type(self).__name__.lower(),
            phase=self.at,
            steps=self.steps,
            queued_ms=_ms(self.queued),
            running_ms=_ms(self.running),
        )


def _ms(duration: str | None) -> int | None:
    return None if duration is None else parse_duration_ms(duration)


class Succeed(OutcomeKind, frozen=True):
    """The operation succeeds, after the given time."""

    example: ClassVar = {"running": "40s"}


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


class Cancel(OutcomeKind, frozen=True):
    """The operation and its deployment are cancelled at the end of a phase."""

    example: ClassVar = {"phase": "building"}
    steps = ("cancelled",)

    phase: OperationPhase = "deploying"


class Stick(OutcomeKind, frozen=True):
    """The operation is stuck in a phase, until release_operation."""

    example: ClassVar = {"phase": "verifying"}
    steps = ("stuck",)

    phase: OperationPhase = "verifying"


class Reconcile(OutcomeKind, frozen=True):
    """The operation needs reconciliation at the end of a phase, this many times, and then continues.

    With `then: exhaust` the last attempt is exhausted, and the operation fails with
    reconciliation_exhausted. `each` is how long each state of an attempt lasts.
    """

    example: ClassVar = {"attempts": 2, "then": "exhaust", "each": "5s"}

    phase: OperationPhase = "verifying"
    attempts: Annotated[int, Meta(ge=1, le=100)] = 1
    then: Literal["continue", "exhaust"] = "continue"
    each: str | None = None

    def operation_outcome(self, id_: str, call: str) -> OperationOutcome | None:
        step_ms = _ms(self.each)
        outcome = super().operation_outcome(id_, call)
        if outcome is None:
            return None
        steps = ("required", "running", "completed") * self.attempts
        if self.then == "exhaust":
            steps = (*steps[:-1], "exhausted")
        return replace(outcome, steps=steps, step_ms=step_ms)


OUTCOME_KINDS: Mapping[str, type[OutcomeKind]] = {
    kind.__name__.lower(): kind for kind in (Succeed, Fail, Cancel, Stick, Reconcile)
}


def outcome_of(armed: Fault) -> OutcomeKind:
    """Return an armed outcome's kind with its options. Raises msgspec.ValidationError or KeyError."""
    return convert(armed.options, OUTCOME_KINDS[armed.kind])


def outcome_text(outcome: OperationOutcome) -> str:
    """Describe the steps of an outcome that have not happened yet. Empty: there are none."""
    remaining = outcome.steps[outcome.steps_taken :]
    if remaining:
        steps = ", ".join(remaining)
        if remaining[0] in lifecycles.RECONCILIATION.transitions:
            return f"in {outcome.phase} its reconciliation becomes {steps}"
        error = f" with {outcome.failure.code}" if outcome.failure else ""
        return f"it becomes {steps} in {outcome.phase}{error}"
    if outcome.steps:
        return ""
    durations = {"queued": outcome.queued_ms, "running": outcome.running_ms}
    parts = [
        f"{state} for {format_duration(ms)}" for state, ms in durations.items() if ms is not None
    ]
    return f"it is {' and '.join(parts)}" if parts else ""
