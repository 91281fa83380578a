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

    Sentences and names are empty, and counts are 0, if there is nothing to report.
    """

    trial: Trial
    #: How the run differs from the clean run.
    verdict: Verdict
    #: The sentences that explain the verdict.
    reasons: tuple[str, ...]
    exit_code: int
    #: The duration of the run in real seconds.
    duration_s: float
    #: The last lines that the command printed.
    output: tuple[str, ...] = ()
    #: The conduct findings of the run. Unless the trial is clean, findings about rules that the clean
    #: runs break, too, are left out.
    findings: tuple[ConductFinding, ...] = ()
    #: The rules and the titles of the conduct findings that the clean run does not have. Only the trial
    #: of a fault sets them.
    conduct: tuple[str, ...] = ()
    #: The codes of the problems that the client received. Only the trial of a fault sets them.
    codes: tuple[str, ...] = ()
    #: Whether the fault or the variation of the trial affected a request.
    hit: bool = True
    #: The largest number of attempts at one request with hardly a pause between them, or 0 if the
    #: pauses are unknown.
    fast_attempts: int = 0
    #: The number of replayed responses beyond those of the clean run.
    additional_replays: int = 0
    #: The name of the request for the last page that the client read, if it stopped early although it
    #: reads all pages in the clean run.
    stopped_at_page: str = ""
    #: Whether the output names the number of items in the whole list, although the client did not read
    #: all pages.
    misses_items: bool = False
    #: How the output shows that the client counts items twice.
    repeated_items: str = ""
    #: How the output shows that the client reports a part of a list as the whole.
    missing_items: str = ""
    #: How the client ended silently where the fault interrupted its work.
    early_end: str = ""
    #: The first request that the service refused as invalid, and why. The calls that are refused as
    #: invalid in the clean run do not count.
    invalid_request: str = ""
    #: Whether the output contains the client's token.
    prints_token: bool = False
    #: The variation points at which responses varied.
    varied: tuple[str, ...] = ()
    #: All lines that the command printed.
    printed_lines: tuple[str, ...] = ()
    #: Whether the command is a test suite.
    is_suite: bool = False
    #: The effect of the altered part on the client's behavior.
    effect: Effect = "ignores"
    #: Whether the contract allows the alteration.
    is_allowed: bool = False
    #: Whether the request of the fault is refused in the clean run, too.
    is_refused_anyway: bool = False
    #: Whether the run failed although its requests succeed as they do in the clean run, and changed
    #: nothing more than the clean run.
    has_recovered: bool = False
    #: The number of operations that failed for good, beyond those that the clean run starts.
    restarted_operations: int = 0
    #: The number of polls of operations. Only the trial of a fault sets it.
    poll_count: int = 0
    #: Whether an operation had not ended when the run ended. Only the trial of a fault sets it.
    has_unfinished_operation: bool = False
    #: The ids of the causes that the result shows. Only `explore` sets them.
    causes: tuple[str, ...] = ()
    #: A request of the clean run that this run omits, if a list arrived in reverse.
    omitted_request: str = ""
    #: A printed line of the clean run that this run omits, if a list arrived in reverse.
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
