from typing import ClassVar

from hosting_emulator.faults.outcomes import OutcomeKind


class Succeed(OutcomeKind, frozen=True):
    """The operation succeeds after the durations set by `queued` and `running`."""

    example: ClassVar = {"running": "40s"}
