"""What one trial came to."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.messages import ConductFinding
from hosting_emulator_lab.judge.client_behavior import Effect
from hosting_emulator_lab.judge.run_results import FINE_VERDICTS, Verdict
from hosting_emulator_lab.judge.trials import Trial


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of a trial.

    `verdict` compares the run with the clean run, and `reasons` are sentences that explain it.
    `findings` are the conduct findings of the run. For a trial that is not clean, those whose rule the
    clean runs break as well are left out. `duration_s` is in real seconds. `output` holds the last
    lines that the command printed. `hit` tells whether what the trial is about met a request.
    `fast_attempts` is the largest number of attempts at one request with hardly a pause between them. It
    is 0 if the pauses are unknown.
    `additional_replays` is how many more replays than in the clean run the client received.
    `stopped_at_page` names the request after whose page the client stopped although there are more, if
    it reads all pages in the clean run.
    `varied` are the variation points at which responses varied. `printed_lines` are all lines that the
    command printed.
    `effect` is what an altered part changes in what the client does. `is_allowed` tells whether the
    contract allows the alteration.
    """

    trial: Trial
    verdict: Verdict
    reasons: tuple[str, ...]
    exit_code: int
    duration_s: float
    output: tuple[str, ...] = ()
    findings: tuple[ConductFinding, ...] = ()
    hit: bool = True
    fast_attempts: int = 0
    additional_replays: int = 0
    stopped_at_page: str = ""
    varied: tuple[str, ...] = ()
    printed_lines: tuple[str, ...] = ()
    effect: Effect = "ignores"
    is_allowed: bool = False

    @property
    def is_fine(self) -> bool:
        """Whether the verdict finds no mistake. The findings are apart from that."""
        return self.verdict in FINE_VERDICTS
