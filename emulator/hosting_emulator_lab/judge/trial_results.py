"""The results of trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator.messages import ConductFinding
from hosting_emulator_lab.judge.client_behavior import Effect
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_results import FINE_VERDICTS, VERDICT_MEANINGS, Verdict
from hosting_emulator_lab.judge.trials import FaultTrial, Trial


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of a trial.

    `verdict` compares the run with the clean run, and `reasons` are sentences that explain it.
    `findings` are the conduct findings of the run. Unless the trial is clean, findings about rules that
    the clean runs break too are left out. `duration_s` is in real seconds. `output` holds the last
    lines that the command printed. `hit` means that the fault or variation of the trial affected a
    request. `conduct` contains the rules and the titles of the conduct findings that the clean run does
    not have, and `codes` the codes of the problems that the client received, both only for the trial of
    a fault. `fast_attempts` is the largest number of attempts at one request with hardly a pause
    between them. It is 0 if the pauses are unknown. `additional_replays` is the number of replayed
    responses beyond those of the clean run. If the client reads all pages in the clean run but stopped
    early in this run, `stopped_at_page` names the request for the last page that it read. `misses_items`
    means that the output names the number of items in the whole list, of which the client did not read
    all pages.
    `repeated_items` describes how the output shows that the client counts items twice, and
    `missing_items` how it shows that the client reports a part of a list as the whole. `varied` are the
    variation points at which responses varied. `printed_lines` are all lines that the command printed.
    `early_end` describes how the client ended silently where the fault interrupted its work.
    `prints_token` means that the output contains the client's token. `invalid_request` describes a
    request that the service refused as invalid, as it refuses none in the clean run.
    `effect` is the effect of an altered part on the client's behavior. `is_allowed` tells whether the
    contract allows the alteration. `is_refused_anyway` means that the request of the fault is refused
    in the clean run, too. `has_recovered` means that the run failed although its requests succeed as they
    do in the clean run, and that it changed nothing more. `restarted_operations` is the number of
    operations that failed for good, beyond those that the clean run starts. `poll_count` is the number
    of polls of operations, and `has_unfinished_operation` tells whether an operation had not ended when
    the run ended, both only for the trial of a fault. `causes` are the ids of the causes that the result
    shows, and only `explore` sets them. If a list arrived in reverse, `omitted_request` and
    `omitted_line` are a request and a line of the clean run that this run omits.
    """

    trial: Trial
    verdict: Verdict
    reasons: tuple[str, ...]
    exit_code: int
    duration_s: float
    output: tuple[str, ...] = ()
    findings: tuple[ConductFinding, ...] = ()
    conduct: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    hit: bool = True
    fast_attempts: int = 0
    additional_replays: int = 0
    stopped_at_page: str = ""
    misses_items: bool = False
    repeated_items: str = ""
    missing_items: str = ""
    early_end: str = ""
    invalid_request: str = ""
    prints_token: bool = False
    varied: tuple[str, ...] = ()
    printed_lines: tuple[str, ...] = ()
    effect: Effect = "ignores"
    is_allowed: bool = False
    is_refused_anyway: bool = False
    has_recovered: bool = False
    restarted_operations: int = 0
    poll_count: int = 0
    has_unfinished_operation: bool = False
    causes: tuple[str, ...] = ()
    omitted_request: str = ""
    omitted_line: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether the verdict finds no mistake. The findings do not count here."""
        return self.verdict in FINE_VERDICTS

    @property
    def explanation(self) -> str:
        """The reasons for the verdict or, if there are none, what the verdict means."""
        return "; ".join(self.reasons) or VERDICT_MEANINGS[self.verdict].text

    @property
    def message(self) -> str:
        """The verdict and its explanation, as all reports show them.

        A verdict of `unclear` is left out, because its explanation says what is unclear.
        """
        if self.verdict == "unclear":
            return self.explanation
        return f"{self.verdict}: {self.explanation}"

    @property
    def point(self) -> FaultPoint:
        """The fault point of the trial, which must be the trial of a fault."""
        assert isinstance(self.trial, FaultTrial)
        return self.trial.point


def count_verdicts(results: Sequence[TrialResult]) -> dict[str, int]:
    """Return the number of results for each verdict that occurs, in the order of VERDICT_MEANINGS."""
    counts = Counter(result.verdict for result in results)
    return {verdict: counts[verdict] for verdict in VERDICT_MEANINGS if counts[verdict]}
