from typing import ClassVar

from hosting_emulator.faults.outcomes import OperationPhase, OutcomeKind


class Cancel(OutcomeKind, frozen=True):
    """The operation and its deployment are cancelled at the end of a phase."""

    example: ClassVar = {"phase": "building"}
    steps = ("cancelled",)

    phase: OperationPhase = "deploying"
