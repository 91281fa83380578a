from typing import ClassVar

from hosting_emulator.faults.outcomes import OperationPhase, OutcomeKind


class Stick(OutcomeKind, frozen=True):
    """The operation is stuck in a phase, until release_operation."""

    example: ClassVar = {"phase": "verifying"}
    steps = ("stuck",)

    phase: OperationPhase = "verifying"
