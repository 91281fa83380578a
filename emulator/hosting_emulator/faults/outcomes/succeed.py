from typing import ClassVar

from hosting_emulator.faults.outcomes import OutcomeKind


class Succeed(OutcomeKind, frozen=True):
    """The operation succeeds, after the given time."""

    example: ClassVar = {"running": "40s"}
