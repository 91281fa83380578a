"""Outcomes: how an operation is to go, told before it begins.

A kind is a struct whose fields are its options and whose docstring says what it is for. It gives the
record that an operation carries from its beginning to its end.
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
from hosting_emulator.world.operations import DEPLOYING_PLAN, INITIALIZE, PLAIN_PLAN
from hosting_emulator.world.records import Fault, OperationFailure, OperationOutcome

OperationPhase = Literal["queued", "building", "deploying", "verifying"]
Text = Annotated[str, Meta(min_length=1)]


def phases_of(call: str | None) -> tuple[str, ...]:
    """Return the phases of an operation that a call begins, before its end."""
    plan = DEPLOYING_PLAN if call in (None, INITIALIZE) else PLAIN_PLAN
    return tuple(step.phase for step in plan[:-1])


class OutcomeKind(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """Base of all kinds. `queued` and `running` are durations: how long the operation is each.

    `turns` happen one after the other at the end of the phase `at` (see `OperationOutcome`).
    """

    example: ClassVar[Mapping[str, Any]] = {}
    turns: ClassVar[tuple[str, ...]] = ()

    queued: str | None = None
    running: str | None = None

    def __post_init__(self) -> None:
        self.told("", INITIALIZE)  # which reads each duration

    @property
    def at(self) -> str:
        """The phase at whose end something happens; empty: nothing does."""
        return getattr(self, "phase", "")

    def told(self, id_: str, call: str) -> OperationOutcome | None:
        """Return what an operation of a call is told; None: it has no such phase."""
        if self.at and self.at not in phases_of(call):
            return None
        return OperationOutcome(
            id=id_,
            kind=type(self).__name__.lower(),
            phase=self.at,
            turns=self.turns,
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
    turns = ("failed",)

    phase: OperationPhase = "deploying"
    code: Text = "operation_failed"
    message: Text = "The operation failed."
    retryable: bool = False
    suggested_action: Text = "Read the deployment logs, fix the cause and start a new operation."

    def told(self, id_: str, call: str) -> OperationOutcome | None:
        told = super().told(id_, call)
        error = OperationFailure(self.code, self.message, self.retryable, self.suggested_action)
        return told and replace(told, failure=error)


class Cancel(OutcomeKind, frozen=True):
    """The operation and its deployment are cancelled at the end of a phase."""

    example: ClassVar = {"phase": "building"}
    turns = ("cancelled",)

    phase: OperationPhase = "deploying"


class Stick(OutcomeKind, frozen=True):
    """The operation is stuck in a phase, until release_operation."""

    example: ClassVar = {"phase": "verifying"}
    turns = ("stuck",)

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

    def told(self, id_: str, call: str) -> OperationOutcome | None:
        told = super().told(id_, call)
        turns = ("required", "running", "completed") * self.attempts
        if self.then == "exhaust":
            turns = (*turns[:-1], "exhausted")
        return told and replace(told, turns=turns, turn_ms=_ms(self.each))


OUTCOME_KINDS: Mapping[str, type[OutcomeKind]] = {
    kind.__name__.lower(): kind for kind in (Succeed, Fail, Cancel, Stick, Reconcile)
}


def outcome_of(armed: Fault) -> OutcomeKind:
    """Return an armed outcome's kind with its options. Raises msgspec.ValidationError or KeyError."""
    return convert(armed.options, OUTCOME_KINDS[armed.kind])


def outcome_text(told: OperationOutcome) -> str:
    """Say what is told of an operation and has not happened yet; empty: nothing is left of it."""
    left = told.turns[told.done :]
    if left:
        turns = ", ".join(left)
        if left[0] in lifecycles.RECONCILIATION.transitions:
            return f"in {told.phase} its reconciliation becomes {turns}"
        error = f" with {told.failure.code}" if told.failure else ""
        return f"it becomes {turns} in {told.phase}{error}"
    times = {"queued": told.queued_ms, "running": told.running_ms}
    parts = [f"{name} for {format_duration(ms)}" for name, ms in times.items() if ms is not None]
    return f"it is {' and '.join(parts)}" if parts and not told.turns else ""
