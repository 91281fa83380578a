"""The judgment on a client: the causes, and the trials that were made and those that were not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator.messages import ContractCoverage, Severity
from hosting_emulator_lab.judge.causes import ClientCause
from hosting_emulator_lab.judge.dependencies import NO_DEPENDENCIES, ClientDependencies
from hosting_emulator_lab.judge.trials import Trial

SURVIVED = 0
HAS_CAUSES = 1
UNDECIDED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """The results of all trials of a client.

    `command` is the client's command line, `request_count` the number of requests in its clean run,
    and `clean_s` the duration of that run in real seconds. `run_count` is the number of all runs, and
    `duration_s` the duration of the whole judgment in real seconds.

    `planned` is the number of planned trials, and `tried` the number of those that were made.
    `not_tried` are the other trials, and `needed_s` is a budget in real seconds that would be
    enough for all trials. `unproven` are the reasons why the trials do not prove that the client
    survives.

    `remarks` are sentences about the judgment itself. `coverage` is the part of the contract that
    the clean run exercised. `severity` is the lowest severity that counts.

    `dependencies` are the parts of responses on which the client depends. They never decide whether
    the client survives.
    """

    command: str
    request_count: int
    clean_s: float
    run_count: int
    duration_s: float
    causes: Sequence[ClientCause]
    planned: int
    tried: int
    not_tried: Sequence[Trial]
    needed_s: int
    unproven: Sequence[str]
    remarks: Sequence[str]
    coverage: ContractCoverage
    severity: Severity = "warning"
    dependencies: ClientDependencies = NO_DEPENDENCIES

    @property
    def exit_code(self) -> int:
        """0 if the client survived, 1 if a cause counts, and 2 if the trials prove neither."""
        if self.counted_causes:
            return HAS_CAUSES
        if self.unproven:
            return UNDECIDED
        return SURVIVED

    @property
    def counted_causes(self) -> list[ClientCause]:
        """The causes of the chosen severity and above."""
        return [cause for cause in self.causes if cause.counts(self.severity)]

    @property
    def other_causes(self) -> list[ClientCause]:
        """The causes below the chosen severity."""
        return [cause for cause in self.causes if not cause.counts(self.severity)]

    @property
    def headline(self) -> str:
        """A short description of the result."""
        count = len(self.counted_causes)
        if count == 1:
            return "1 cause found"
        if count:
            return f"{count} causes found"
        if self.unproven:
            return "could not be judged"
        return "survived"
