"""An operation that is cancelled."""

from typing import ClassVar

from hosting_emulator.faults.outcomes import OptionalPhase, OutcomeKind
from hosting_emulator.world.records import PartialEffects


class Cancel(OutcomeKind, frozen=True):
    """The operation and its deployment are cancelled at the end of a phase (default: deploying).

    With `while`, they are cancelled as soon as the condition holds, in that phase or, without `phase`,
    in any phase. `leaves` are the effects that the operation leaves behind: some of its `hosts`, its
    `source`, its `deployment`, or `dns`.
    """

    example: ClassVar = {"phase": "building"}
    steps = ("cancelled",)

    phase: OptionalPhase = None
    leaves: PartialEffects | None = None
