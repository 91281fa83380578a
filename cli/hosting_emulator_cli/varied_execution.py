"""Runs a command for `exec --vary`, and searches for the variation points that make it fail.

The first run is an ordinary run of `exec`, with a terminal and a report. The search performs its
runs in the same way as `judge` and `explore`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hosting_emulator import EXEC_CONDUCT_VARIABLE
from hosting_emulator_cli import execution
from hosting_emulator_cli.client_runs import ClientRuns
from hosting_emulator_cli.client_tools import run_tool
from hosting_emulator_cli.execution import (
    SETTLE_S,
    CommandResult,
    Execution,
    mention,
    wait_until_reachable,
)
from hosting_emulator_cli.verdict import RunVerdict
from hosting_emulator_lab.judge.variation_search import NarrowFailure, PointSearch
from hosting_emulator_lab.run_conditions import ORDINARY, RunConditions, RunsStopped

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator, WorldsObservation

#: The maximum number of runs in a search, not counting the run that shows whether a search makes
#: sense.
MOST_RUNS = 40
#: The exit codes for a command that could not be started.
_NOT_STARTED = (126, 127)

#: A function that returns the command line for a run that varies responses at some points, or at
#: all points if the argument is None.
RepeatLine = Callable[[Sequence[str] | None], str]
#: Performs a run that varies responses at some points. Without points, responses do not vary.
RunAtPoints = Callable[[tuple[str, ...]], CommandResult]


def execute_varied(plan: Execution, repeat_line: RepeatLine, *, shrinking: bool) -> int:
    """Run a command with varied responses, and return its exit code.

    If the command fails, print the seed, the points and a command line that repeats the run, unless
    the plan is quiet and `shrinking` is false. Print nothing if the run was interrupted. With
    `shrinking`, also search for the points that make the command fail. Raises Failure.
    """
    first = execution.execute(plan)
    if first.code == 0 or first.code in _NOT_STARTED or first.signalled or first.undecided:
        return first.code
    settings = plan.settings
    if shrinking or not plan.quiet:
        line = repeat_line(settings.vary_only)
        mention(f"{_variation_text(settings.vary, first.varied)}\nRepeat with: {line}")
    if shrinking:
        mention(
            f"Shrinking takes at most {MOST_RUNS + 1} more runs, each in a fresh world. The output "
            "of these runs is hidden."
        )
        runs = SearchRuns(plan)
        runs.use(lambda: _search(first, plan, runs.run, repeat_line))
    return first.code


def _variation_text(seed: str | None, points: Sequence[str]) -> str:
    """Return sentences that say at which points the responses of a run varied."""
    if points:
        return f"Varied with seed {seed}: {', '.join(points)}."
    # For example, tests with the pytest plugin may use only worlds that the command creates.
    return (
        f"With seed {seed}, no response from this emulator varied. Worlds that the command creates "
        "also use the seed."
    )


def _search(
    first: CommandResult, plan: Execution, run: RunAtPoints, repeat_line: RepeatLine
) -> None:
    """Print the smallest sets of points with which the command fails.

    `first` is the result of the run that failed.
    """
    try:
        _find_points(first, plan, run, repeat_line)
    except RunsStopped:
        mention("Stopped before the search was finished.")


def _find_points(
    first: CommandResult, plan: Execution, run: RunAtPoints, repeat_line: RepeatLine
) -> None:
    """Do the same as `_search`. Raises RunsStopped."""
    from hosting_emulator.variation.points import POINTS

    if _fails(run(())):
        mention("The command also fails without variation, so no point is the cause.")
        return
    search = PointSearch(run, _fails, most_runs=MOST_RUNS, most_runs_each=MOST_RUNS)
    candidates = plan.settings.vary_only or tuple(POINTS)
    beginning = ""
    for failure in search.failures(first, candidates, tuple, retries_all=True):
        mention(_failure_text(failure, beginning or "The command fails", repeat_line))
        beginning = "Without this variation, the command fails"
    if not beginning:
        mention("The failure is intermittent: a second run with the same points passed.")


def _fails(result: CommandResult) -> bool:
    return result.code != 0


def _failure_text(
    failure: NarrowFailure[CommandResult], beginning: str, repeat_line: RepeatLine
) -> str:
    from hosting_emulator.sdk.text import count_text

    runs = count_text(failure.tries, "run")
    limit = ""
    if not failure.is_smallest:
        limit = "; the search stopped, so a smaller set may exist"
    return (
        f"{beginning} with {' and '.join(failure.points)} alone ({runs}{limit}).\n"
        f"Repeat with: {repeat_line(failure.points)}"
    )


class SearchRuns:
    """Performs the runs of a search. They have no input, and their output is hidden."""

    def __init__(self, plan: Execution) -> None:
        self._plan = plan
        self._settings = replace(
            plan.settings, vary=None, vary_only=None, log_requests=False, log_level="warning"
        )
        self._runs = ClientRuns(
            plan.command,
            self._settings,
            plan.user,
            plan.exports,
            {EXEC_CONDUCT_VARIABLE: plan.conduct},
        )

    def use(self, search: Callable[[], None]) -> None:
        """Call `search`, which may perform runs. Raises Failure."""

        def work() -> int:
            search()
            return 0

        run_tool(self._settings, lambda: self._runs.use(work), tool="exec --shrink", result="cause")

    def run(self, points: tuple[str, ...]) -> CommandResult:
        """Perform a run that varies responses at some points. Raises RunsStopped if the search must
        end.
        """
        conditions = ORDINARY
        if points:
            conditions = RunConditions(vary=self._plan.settings.vary, vary_only=points)
        visit = _ConductVisit(self._plan)
        end = self._runs.perform(visit, "search", None, conditions)
        code = end.exit_code
        if code == 0 and visit.is_undecided:
            mention("A run could not be judged.")
            raise RunsStopped
        if code == 0 and visit.misbehaved:
            code = 1
        return CommandResult(code, varied=end.varied)


class _ConductVisit:
    """Judges the conduct of a run if `--conduct` is set, as `exec` does."""

    def __init__(self, plan: Execution) -> None:
        self._plan = plan
        self._watch: WorldsObservation | None = None
        #: Whether conduct findings count as a failure of the run.
        self.misbehaved = False
        #: Whether a requested verdict is missing.
        self.is_undecided = False

    def begin(self, world: HostingEmulator, token: str | None = None) -> None:
        """Start observing all worlds before the command starts."""
        if self._plan.conduct != "off":
            self._watch = world.control.observe(skip_rules=self._plan.skip_rules)

    def end(self, world: HostingEmulator) -> None:
        """Judge the run after the command has exited."""
        if self._watch is None:
            return
        wait_until_reachable(world.control)
        verdict = RunVerdict(self._watch.report(final=True, wait_s=SETTLE_S))
        is_strict = self._plan.conduct == "error"
        self.misbehaved = is_strict and verdict.is_bad
        lacks_requests = is_strict and not verdict.has_requests
        self.is_undecided = lacks_requests or bool(verdict.errors)
