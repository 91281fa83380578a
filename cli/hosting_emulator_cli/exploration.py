"""Implements `explore`: runs the command as the plan specifies, and writes the reports."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hosting_emulator.sdk.conduct_text import conduct_text
from hosting_emulator.sdk.text import count_text
from hosting_emulator_cli import output as out
from hosting_emulator_cli.client_runs import ClientRuns
from hosting_emulator_cli.client_tools import (
    ReportWriters,
    ToolOptions,
    clean_run_failure,
    connections_remark,
    default_jobs,
    observation_failures,
    run_tool,
    watch_connections,
    write_reports,
)
from hosting_emulator_cli.exploration_progress import show_progress
from hosting_emulator_cli.exploration_results import ResultsFile, exploration_key
from hosting_emulator_cli.main import Failure, failing
from hosting_emulator_cli.printable import printable, printable_lines
from hosting_emulator_lab.judge.clean_runs import compare_clean_runs
from hosting_emulator_lab.judge.exploration import Exploration
from hosting_emulator_lab.judge.exploration_document import exploration_document
from hosting_emulator_lab.judge.exploration_junit import junit_text
from hosting_emulator_lab.judge.exploration_page import exploration_page
from hosting_emulator_lab.judge.exploration_text import plan_text, report_text, result_text
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES, FaultPoint
from hosting_emulator_lab.judge.point_plan import PointPlan, plan_points
from hosting_emulator_lab.judge.point_runs import (
    CLEAN_LIMIT_S,
    exploration_runs,
    run_point,
)
from hosting_emulator_lab.judge.run_results import (
    UNDECIDED_VERDICTS,
    CleanRun,
    CleanRunFailed,
    ConductChoice,
    RunEnd,
)
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import FaultTrial
from hosting_emulator_lab.run_conditions import RunConditions, RunsStopped

if TYPE_CHECKING:
    from hosting_emulator_cli.outside_connections import ConnectionWatch
    from hosting_emulator_lab.judge.trial_runs import TrialRuns


@dataclass(frozen=True, kw_only=True)
class CommandExploration(ToolOptions):
    """A command to explore, and the runs to perform.

    `budget_s` limits the exploration, in real seconds. If `budget_s` is None, the exploration has no
    time limit. `conditions` are those of all runs. If `point` is set, it is the only point to run.
    `repeat` returns the command line that runs a point again. `repeat_clean` is the command line that
    runs the command without faults, and reports on its conduct.
    """

    faults: tuple[str, ...]
    calls: Sequence[str]
    max_runs: int
    outcomes: bool
    quick: bool
    budget_s: float | None
    conditions: RunConditions
    conduct: ConductChoice
    results_file: Path | None
    point: FaultPoint | None
    repeat: Callable[[FaultPoint], str]
    repeat_clean: str


def explore(options: CommandExploration) -> int:
    """Explore a command, and return the exit code.

    Raises Failure if the command cannot be explored.
    """
    return run_tool(
        options.settings,
        _Exploration(options).run,
        options.report_files,
        tool="explore",
        result="verdict",
    )


class _Exploration:
    """One exploration of a command."""

    def __init__(self, options: CommandExploration) -> None:
        self._options = options
        self._jobs = options.jobs or default_jobs(3, least=4, most=16)
        self._runs = ClientRuns(options.command, options.settings, options.user, options.exports)
        self._began = time.monotonic()
        #: The conduct findings in the point's run, if only one point is run.
        self._conduct_text = ""

    async def run(self) -> int:
        """Explore the command, and return the exit code. Raises Failure."""
        return await self._runs.use(self._explore)

    # --- Plan and reports ------------------------------------------------------------------------

    def _explore(self) -> int:
        """Perform all runs, report the results, and return the exit code. Raises Failure."""
        options = self._options
        runs = exploration_runs(
            self._perform,
            limit_s=options.limit_s,
            conduct=options.conduct,
            conditions=options.conditions,
        )
        try:
            with observation_failures("explore"), watch_connections(options) as watch:
                clean = compare_clean_runs(runs, limit_s=options.limit_s or CLEAN_LIMIT_S)
                if options.point is not None:
                    return self._run_point(options.point, runs, clean, watch)
                return self._run_all(runs, clean, watch)
        except RunsStopped:
            return 2
        except CleanRunFailed as error:
            raise clean_run_failure(error, "explore", limit_option="--time-limit") from error

    def _run_point(
        self, point: FaultPoint, runs: TrialRuns, clean: CleanRun, watch: ConnectionWatch | None
    ) -> int:
        """Run a single point, print the command's output and the result, and return the exit code."""
        with failing(ValueError, prefix="--trial: "):
            result = runs.trial(FaultTrial(point), clean)
        out.put("\n".join(result.printed_lines))
        out.say(printable(result_text(result)))
        if result.conduct:
            out.say(printable_lines(self._conduct_text))
        for remark in connections_remark(watch):
            out.say(remark)
        if result.verdict in UNDECIDED_VERDICTS:
            return 2
        return int(not result.is_fine)

    def _run_all(self, runs: TrialRuns, clean: CleanRun, watch: ConnectionWatch | None) -> int:
        """Run the planned points that have no stored result, and report on all points.

        Return the exit code.
        """
        try:
            planned = self._plan(clean)
        except Failure:
            # A command that sends no request to the emulator may talk to the real service.
            for remark in connections_remark(watch):
                out.say(remark)
            raise
        results_file = ResultsFile(self._options.results_file, self._key(clean))
        message = results_file.load(planned)
        out.say(plan_text(planned, self._jobs))
        if message:
            out.say(message)
        self._run_points(runs, planned, clean, results_file)
        results = [
            results_file.results[point] for point in planned.points if point in results_file.results
        ]
        stop_reason = ""
        if len(results) < len(planned.points):
            stop_reason = self._runs.stop_reason
        exploration = Exploration(
            shlex.join(self._options.command),
            clean,
            planned,
            results,
            self._options.repeat,
            stop_reason=stop_reason,
            conduct=self._options.conduct,
            repeat_clean_command=self._options.repeat_clean,
            remarks=connections_remark(watch),
        )
        self._write_reports(exploration)
        return exploration.exit_code

    def _plan(self, clean: CleanRun) -> PointPlan:
        """Return the points to run.

        Raises Failure if the command makes no request to which a fault applies.
        """
        faults = self._options.faults
        if self._options.outcomes:
            faults += OUTCOMES
        planned = plan_points(
            clean.observation.requests,
            faults=faults or KINDS,
            calls=self._options.calls,
            max_runs=self._options.max_runs,
            quick=self._options.quick,
        )
        if planned.requests:
            return planned
        if self._options.calls:
            calls = " or ".join(self._options.calls)
            raise Failure(
                f"the command makes no request to {calls}, so there is nothing to explore"
            )
        if clean.observation.request_count:
            requests = count_text(clean.observation.request_count, "request")
            raise Failure(
                f"the command sends {requests}, but explore needs at least one call with a valid "
                "token or API key, such as HOSTING_TOKEN"
            )
        raise Failure(
            "the command sends no request to the emulator; check that it uses HOSTING_BASE_URL "
            "and HOSTING_TOKEN"
        )

    def _key(self, clean: CleanRun) -> str:
        """Return the `exploration_key` of the results."""
        options = self._options
        return exploration_key(
            clean,
            command=options.command,
            settings=options.settings,
            user=options.user,
            exports=options.exports,
            limit_s=options.limit_s,
            conduct=options.conduct,
        )

    def _write_reports(self, exploration: Exploration) -> None:
        """Write the requested files, and print the report. Raises Failure."""
        writers = ReportWriters(
            junit=lambda: junit_text(exploration),
            page=lambda: exploration_page(exploration),
            document=lambda: exploration_document(exploration),
            text=lambda color: report_text(exploration, color=color),
        )
        write_reports(self._options, writers)

    def _run_points(
        self,
        runs: TrialRuns,
        planned: PointPlan,
        clean: CleanRun,
        results_file: ResultsFile,
    ) -> None:
        """Run the points that have no result yet, several at a time, and store each result."""
        self._start_budget()
        results = results_file.results
        point_count = len(planned.points)
        with (
            show_progress(len(results), point_count) as show,
            ThreadPoolExecutor(self._jobs) as pool,
        ):
            futures: list[Future[TrialResult]] = []
            for point in planned.points:
                if point not in results:
                    futures.append(pool.submit(run_point, runs, point, clean))
            try:
                for future in as_completed(futures):
                    with suppress(RunsStopped):
                        result = future.result()
                        results_file.add(result)
                        show(result, len(results))
            except BaseException:
                self._runs.stop("the exploration could not continue")
                raise

    def _start_budget(self) -> None:
        """Start a timer that stops the exploration when the budget is used up."""
        budget_s = self._options.budget_s
        if budget_s is None:
            return
        left_s = max(0.0, budget_s - (time.monotonic() - self._began))
        reason = f"the budget of {budget_s:g} s is used up"
        timer = threading.Timer(left_s, self._runs.stop, [reason])
        timer.daemon = True
        timer.start()

    # --- One run ---------------------------------------------------------------------------------

    def _perform(
        self, visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        """Run the command once, as ClientRuns does.

        If the exploration is limited to a single point and this run is for that point, keep the text
        about its conduct.
        """
        end = self._runs.perform(visit, name, limit_s, conditions)
        if visit.point == self._options.point is not None:
            self._conduct_text = "\n".join(
                conduct_text(conduct) for conduct in visit.conduct if conduct.findings
            )
        return end
