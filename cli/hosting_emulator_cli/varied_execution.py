"""Runs a command for `exec --vary`, and searches for the variation points that make it fail.

This module knows variation points only by name. The `execution` module makes each run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hosting_emulator_cli import execution
from hosting_emulator_cli.execution import Execution, Stopped, mention
from hosting_emulator_lab.delta_debugging import smallest

#: The maximum number of runs in a search. Up to three more runs check whether a search makes sense.
MOST_RUNS = 40
#: The exit codes of a command that could not be started.
_NOT_STARTED = (126, 127)
#: This text is shown instead of the points if no response from this emulator varied. For example,
#: tests with the pytest plugin may use only worlds that the command creates.
_OTHER_WORLDS = "no response of this emulator (worlds that the command creates also use the seed)"

#: A function that returns the command line for a run with variation at some points, or at all points
#: if the argument is None.
RepeatLine = Callable[[Sequence[str] | None], str]


def execute_varied(plan: Execution, repeat_line: RepeatLine, *, shrinking: bool) -> int:
    """Run a command with varied responses, and return its exit code.

    If the command fails, print the seed, the points and a command line that repeats the run. If
    `shrinking` is true, also search for the points that make the command fail. Raises Failure.
    """
    first = execution.execute(plan)
    if first.code == 0 or first.code in _NOT_STARTED or first.signalled or first.undecided:
        return first.code
    settings = plan.settings
    if shrinking or not plan.quiet:
        points = ", ".join(first.varied) or _OTHER_WORLDS
        line = repeat_line(settings.vary_only)
        mention(f"Varied with seed {settings.vary}: {points}.\nRepeat with: {line}")
    if shrinking:
        try:
            _PointSearch(plan, repeat_line).search(first.varied)
        except Stopped:
            mention("Stopped before the search was finished.")
    return first.code


class _PointSearch:
    """The search for the variation points at which a command fails."""

    def __init__(self, plan: Execution, repeat_line: RepeatLine) -> None:
        settings = replace(plan.settings, log_requests=False, log_level="warning")
        #: What each run in the search executes. The output of these runs is hidden.
        self._plan = replace(
            plan, settings=settings, report="never", failed_world=None, quiet=True, silent=True
        )
        self._repeat_line = repeat_line
        #: The points at which the responses of the latest run varied.
        self._varied: tuple[str, ...] = ()
        self._run_count = 0
        #: Whether the latest search was completed before it ran out of runs.
        self._is_finished = True

    def search(self, varied: tuple[str, ...]) -> None:
        """Print the smallest sets of points at which the command fails. Raises Stopped.

        `varied` contains the points at which the responses of the failed run varied.
        """
        mention(
            f"Shrinking takes at most {MOST_RUNS + 3} more runs, each in a fresh world. The output "
            "of these runs is hidden."
        )
        if self._fails(()):
            mention("The command also fails without variation, so no point is the cause.")
            return
        from hosting_emulator.variation.points import POINTS

        candidates = self._plan.settings.vary_only or tuple(POINTS)
        points = self._failing_points(varied, candidates)
        if points is None:
            mention("The failure is intermittent: another run with the same points passed.")
            return
        beginning = "The command fails"
        while points:
            culprits = self._shrink(points, beginning)
            # Repeat the search without the points already named, because one bug may hide another.
            candidates = tuple(point for point in candidates if point not in culprits)
            points = self._remaining_points(candidates)
            beginning = "Without this variation, the command fails"

    def _failing_points(self, *sets: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the first of `sets` with which the command fails, or None if it never fails."""
        for points in sets:
            if points and self._fails(points):
                return points
        return None

    def _shrink(self, points: tuple[str, ...], beginning: str) -> tuple[str, ...]:
        """Print and return the smallest subset of `points` with which the command still fails."""
        result = smallest(points, self._fails, MOST_RUNS - self._run_count)
        self._run_count += result.tries + 1
        self._is_finished = result.finished
        limit = ""
        if not result.finished:
            limit = "; the search stopped, so a smaller set may exist"
        mention(
            f"{beginning} with {' and '.join(result.items)} alone "
            f"({result.tries} runs{limit}).\nRepeat with: {self._repeat_line(result.items)}"
        )
        return result.items

    def _remaining_points(self, candidates: tuple[str, ...]) -> tuple[str, ...]:
        """Return the points among which to search next.

        The result is empty if the command passes with variation at `candidates` only, or if the
        search has no runs left.
        """
        may_continue = self._is_finished and self._run_count < MOST_RUNS
        if not may_continue or not candidates or not self._fails(candidates):
            return ()
        return tuple(point for point in candidates if point in self._varied)

    def _fails(self, points: tuple[str, ...]) -> bool:
        """Return whether the command fails with variation at these points.

        If there are no points, responses do not vary. Raises Stopped if the run has no verdict.
        """
        settings = replace(self._plan.settings, vary_only=points)
        if not points:
            settings = replace(self._plan.settings, vary=None, vary_only=None)
        result = execution.execute(replace(self._plan, settings=settings))
        if result.signalled:
            raise Stopped
        if result.undecided:
            mention("A run could not be judged.")
            raise Stopped
        self._varied = result.varied
        return result.code != 0
