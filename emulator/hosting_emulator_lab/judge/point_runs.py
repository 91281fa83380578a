"""The runs of an exploration: two clean runs, then one run for each point.

A run that fails is repeated once. The caller decides how a single run is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.fault_visits import FaultVisits
from hosting_emulator_lab.judge.point_verdicts import judge_point
from hosting_emulator_lab.judge.run_results import (
    CleanRun,
    CleanRunFailed,
    ConductChoice,
    PointResult,
    RunEnd,
)
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.time_limits import TimeLimits

#: The default limit on the number of runs.
MAX_RUNS = 300
#: The default time limit of a clean run, in real seconds.
_CLEAN_LIMIT_S = 600.0

#: Makes a run in a world with this name, and ends it after a time limit in real seconds. If the limit
#: is None, there is no limit. The function calls `begin` and `end` of the visit.
Perform: TypeAlias = Callable[[RunVisit, str, float | None], RunEnd]


class PointRuns:
    """Makes the runs of one exploration.

    `limit_s` is the time limit of each run in real seconds. If `limit_s` is None, the limit depends
    on the duration of the clean runs, whose own limit is `clean_limit_s`. `skip_rules` are conduct
    rules that are not checked. `scope` contains the names of the worlds that a run may use, besides
    copies of them. If `scope` is None, a run may use all worlds of its emulator.
    """

    def __init__(
        self,
        perform: Perform,
        *,
        limit_s: float | None = None,
        clean_limit_s: float | None = _CLEAN_LIMIT_S,
        conduct: ConductChoice = "report",
        skip_rules: Sequence[str] = (),
        scope: Sequence[str] | None = None,
    ) -> None:
        #: The time limits of the runs at points.
        self.limits = TimeLimits(limit_s)
        self._perform = perform
        self._conduct = conduct
        self._skip_rules = skip_rules
        self._scope = scope
        self._clean_limit_s = limit_s or clean_limit_s
        self._visits = FaultVisits(
            self._perform_patience, self.limits, skip_rules=skip_rules, scope=scope
        )

    def clean(self) -> CleanRun:
        """Make the two clean runs. Raises CleanRunFailed if one of them does not succeed."""
        first_end, first_visit = self._clean_run("clean", is_second=False)
        second_end, second_visit = self._clean_run("clean-again", is_second=True)
        first = first_visit.observation
        second = second_visit.observation
        assert first is not None
        assert second is not None
        return CleanRun.of_two_runs(first_visit.start, (first_end, first), (second_end, second))

    def _clean_run(self, name: str, *, is_second: bool) -> tuple[RunEnd, RunVisit]:
        """Make one clean run. Raises CleanRunFailed if it does not succeed."""
        visit = RunVisit(skip_rules=self._skip_rules, scope=self._scope)
        end = self._perform(visit, name, self._clean_limit_s)
        if end.hung or end.exit_code:
            raise CleanRunFailed(end, self._clean_limit_s or 0, is_second=is_second)
        return end, visit

    def result(
        self, name: str, point: FaultPoint, clean: CleanRun, *, once: bool = False
    ) -> PointResult:
        """Make the run at a point in a world with this name, and judge it.

        A run that fails is repeated once, unless it hung or `once` is True. If the second run ends
        differently, the first result was due to chance or a busy machine, so only the second
        verdict counts.
        """
        first = self._judged_run(name, point, clean)
        if once or first.fine or first.verdict == "hung":
            return first
        second = self._judged_run(f"{name}-again", point, clean)
        if first.verdict == second.verdict:
            return first
        first_text = "; ".join([first.verdict, *first.reasons])
        note = f"the first of two runs: {first_text}"
        return replace(second, reasons=(*second.reasons, note))

    def _judged_run(self, name: str, point: FaultPoint, clean: CleanRun) -> PointResult:
        """Make one run at a point, and judge it."""
        visit = self._visits.visit(point, clean)
        limit_s = self.limits.limit_s(clean, is_lasting=point.lasting is not None)
        end = self._perform(visit, name, limit_s)
        assert visit.observation is not None
        return judge_point(
            point,
            end,
            visit.observation,
            clean,
            limit_s=limit_s,
            conduct=self._conduct,
        )

    def _perform_patience(self, visit: RunVisit, point: FaultPoint, limit_s: float) -> RunEnd:
        """Make the run that shows how long the client waits for a response."""
        return self._perform(visit, "patience", limit_s)
