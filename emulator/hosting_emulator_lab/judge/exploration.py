"""A finished exploration: its results, its exit code, and which parts of the contract it covered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from hosting_emulator.contract.calls import ALL_CALLS, GET_OPERATION
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.fault_points import KINDS, FaultPoint, kind_of
from hosting_emulator_lab.judge.point_plan import PointPlan
from hosting_emulator_lab.judge.run_results import UNDECIDED_VERDICTS, CleanRun, ConductChoice
from hosting_emulator_lab.judge.trial_results import TrialResult


@dataclass(frozen=True)
class Exploration:
    """The plan and the results of an exploration.

    `subject` is the command or the test that was explored, as the user types it. `results` are in
    the order of the plan. `repeat_command` returns the command line that runs a point again.
    `stop_reason` says why some points of the plan were not run. It is empty if all points were run.
    `conduct` decides which conduct findings count. `repeat_clean_command` is the command line that
    repeats the clean run and reports its conduct. It is empty if there is no such command line.
    `remarks` are sentences about the exploration itself.
    """

    subject: str
    clean_run: CleanRun
    plan: PointPlan
    results: Sequence[TrialResult]
    repeat_command: Callable[[FaultPoint], str]
    stop_reason: str = ""
    conduct: ConductChoice = "report"
    repeat_clean_command: str = ""
    remarks: Sequence[str] = ()

    @property
    def survived(self) -> bool:
        """Whether the results prove that the client survives."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The exit code of `explore`.

        It is 0 if the client survived, 1 if it did not, and 2 if the results prove neither.
        """
        if self.failures or self.clean_findings:
            return 1
        if self.undecided_reason:
            return 2
        return 0

    @property
    def clean_findings(self) -> tuple[str, ...]:
        """The conduct findings of the clean run that make the exit code 1."""
        observation = self.clean_run.observation
        if self.conduct == "error":
            return observation.conduct
        if self.conduct == "report":
            return observation.conduct_errors
        return ()

    @cached_property
    def failures(self) -> list[TrialResult]:
        """The results of the points that the client did not survive."""
        return [
            result for result in self.notable_results if result.verdict not in UNDECIDED_VERDICTS
        ]

    @property
    def undecided_reason(self) -> str:
        """The reason why the results do not prove that the client survives.

        It is empty if they prove it.
        """
        if not self.results:
            return "No failure was tried, so nothing is known about the command."
        if all(result.verdict == "not reached" for result in self.results):
            return "No failure hit a request, so nothing is known about the command."
        unclear_count = sum(result.verdict == "unclear" for result in self.results)
        if unclear_count:
            points = count_text(unclear_count, "point")
            return (
                f"Unclear at {points}: only the command's output can show whether it noticed the "
                "failure. Let it end with another exit code than 0 where it does not succeed."
            )
        return ""

    @property
    def notable_results(self) -> list[TrialResult]:
        """The results that a user must look at: failures and unclear results."""
        return [result for result in self.results if not result.is_fine]

    @cached_property
    def points_not_run(self) -> list[FaultPoint]:
        """The points of the plan that have no result."""
        points_with_result = {result.point for result in self.results}
        return [point for point in self.plan.points if point not in points_with_result]


class CoverageFigure(NamedTuple):
    """The words of one list that an exploration covered, and the number of words in the list."""

    covered: list[str]
    total: int


def coverage(exploration: Exploration) -> dict[str, CoverageFigure]:
    """Return which parts of the contract an exploration covered, by the name of each list.

    The lists are `calls` and `fault_kinds`, `outcomes` if the plan has any, and `problem_codes`. A
    call, kind or outcome is covered if a fault hit a request. A problem code is covered if the
    client received it in any run, including the clean run.
    """
    plan = exploration.plan
    points_hit = [result.point for result in exploration.results if result.hit]
    call_ids = [call_id for call_id in ALL_CALLS if call_id != GET_OPERATION.call_id]
    kinds_hit = [kind_of(point.fault) for point in points_hit if not point.lasting]
    figures = {
        "calls": _coverage_figure(call_ids, [point.call for point in points_hit]),
        "fault_kinds": _coverage_figure(KINDS, kinds_hit),
    }
    outcomes = {point.fault for point in (*plan.points, *plan.left_out) if point.lasting}
    if outcomes:
        faults_hit = [point.fault for point in points_hit]
        figures["outcomes"] = _coverage_figure(sorted(outcomes), faults_hit)
    codes = set(exploration.clean_run.observation.codes)
    for result in exploration.results:
        codes.update(result.codes)
    figures["problem_codes"] = _coverage_figure(PROBLEMS, codes)
    return figures


def coverage_texts(exploration: Exploration) -> dict[str, str]:
    """Return how much of each list was covered, such as `1 of 8` for `fault kinds`."""
    return {
        name.replace("_", " "): f"{len(figure.covered)} of {figure.total}"
        for name, figure in coverage(exploration).items()
    }


def _coverage_figure(words: Iterable[str], covered_words: Iterable[str]) -> CoverageFigure:
    """Return which of these words were covered, in their order."""
    all_words = list(words)
    covered_set = set(covered_words)
    return CoverageFigure([word for word in all_words if word in covered_set], len(all_words))
