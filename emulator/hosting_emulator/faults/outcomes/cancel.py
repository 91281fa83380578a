"""Cancels an operation."""

from typing import ClassVar

from hosting_emulator.faults.outcomes import OptionalPhase, OutcomeKind
from hosting_emulator.world.records import PartialEffects


class Cancel(OutcomeKind, frozen=True):
    """The operation and its deployment are cancelled at the end of a phase (default: deploying).

    With `while`, the operation is instead cancelled as soon as the condition holds during the phase
    or, if no `phase` is set, during any phase. `leaves` lists the effects that the operation leaves
    behind: `hosts`, `source`, `deployment` or `dns`.
    """

    example: ClassVar = {"phase": "building"}
    steps = ("cancelled",)

    phase: OptionalPhase = None
    leaves: PartialEffects | None = None
