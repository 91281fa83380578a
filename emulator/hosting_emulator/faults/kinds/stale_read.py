"""Responds to a read with an earlier state, as a lagging replica would."""

from typing import ClassVar

from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.faults.kinds import FaultKind

_LONGEST_AGE_MS = 365 * 86_400_000


class StaleRead(FaultKind, frozen=True):
    """Respond to a read with the world's state as of `age` ago, in world time.

    The fault acts on get_dns_authorization, list_deployments and get_operation. Access checks and
    writes use the current state. The fault does not act if the response would be a problem, such as
    a 404 for a resource that did not exist yet. With `breaking: true`, the fault does send such
    problems, and also acts on read_database_compute, for which the contract promises fresh values.
    If the history does not go back as far as `age`, the response shows the oldest state in it. With
    a skip clock, repeating a stale read moves the clock forward by `age`. This kind does not accept
    after_commit.
    """

    example: ClassVar = {"age": "30s"}
    stage = "read"

    age: Duration
    breaking: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.age_ms <= _LONGEST_AGE_MS:
            raise ValueError(f"the age {self.age!r} is not between 1ms and 365d")

    @property
    def age_ms(self) -> int:
        """The age of the state, in milliseconds of world time."""
        return parse_duration_ms(self.age)
