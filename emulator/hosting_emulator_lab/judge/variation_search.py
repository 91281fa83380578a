"""Finds out at which variation points a client fails.

The caller decides how a run is made, and what counts as a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, Protocol, TypeVar

from hosting_emulator_lab.delta_debugging import smallest
from hosting_emulator_lab.judge.symptoms import is_varied_failure
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import VariedTrial
from hosting_emulator_lab.judge.variation_causes import points_of_same_causes

#: The maximum number of runs of a judgment that narrow one failure down.
_MOST_RUNS = 16
#: The maximum number of causes that a judgment looks for with one seed.
_MOST_CAUSES = 6


class VariedResult(Protocol):
    """The result of a run. `varied` contains the points at which its responses varied."""

    @property
    def varied(self) -> tuple[str, ...]:
        """The points at which responses varied."""


R = TypeVar("R", bound=VariedResult)


@dataclass(frozen=True, slots=True)
class NarrowFailure(Generic[R]):
    """A failure with variation at `points` only. `result` is the result of the run that shows it.

    `tries` is the number of runs that left out points. `is_smallest` is False if the search ended
    early, so that some of the points may not matter.
    """

    points: tuple[str, ...]
    result: R
    tries: int
    is_smallest: bool


class PointSearch(Generic[R]):
    """A search for the variation points at which a client fails.

    `run` makes a run with variation at some points, and `fails` tells whether the client fails in it.
    `most_runs` limits the runs of the search, and `most_runs_each` the runs that narrow one failure
    down.
    """

    def __init__(
        self,
        run: Callable[[tuple[str, ...]], R],
        fails: Callable[[R], bool],
        *,
        most_runs: float,
        most_runs_each: int,
    ) -> None:
        self._run = run
        self._fails = fails
        self._most_runs = most_runs
        self._most_runs_each = most_runs_each
        self._run_count = 0

    def failures(
        self,
        first: R,
        candidates: Sequence[str],
        same_causes: Callable[[tuple[str, ...]], Iterable[str]],
        *,
        retries_all: bool = False,
    ) -> Iterator[NarrowFailure[R]]:
        """Yield the failures of a client, each at as few variation points as possible.

        `first` is the result of a run with variation at all `candidates`, in which the client failed.
        After each failure, the search continues without the points that show the same cause, which
        `same_causes` returns, because one mistake may hide another.

        The search ends if the client does not fail again with variation at the points that varied.
        With `retries_all`, it then tries all remaining candidates first: in worlds of other emulators,
        more points may have varied.
        """
        remaining = tuple(candidates)
        result = first
        while True:
            sets = [result.varied]
            if retries_all:
                sets.append(remaining)
            failure = self._narrow(sets)
            if failure is None:
                return
            yield failure
            excluded = set(same_causes(failure.points))
            remaining = tuple(point for point in remaining if point not in excluded)
            # The next failure takes at least a run with all remaining points and a run with each set.
            if not remaining or self._run_count + 1 + len(sets) > self._most_runs:
                return
            result = self._make_run(remaining)
            if not self._fails(result):
                return

    def _narrow(self, sets: Iterable[tuple[str, ...]]) -> NarrowFailure[R] | None:
        """Return the failure at the fewest points of the first set with which the client fails.

        Returns None if there is no such set.
        """
        results: dict[tuple[str, ...], R] = {}

        def fails(points: tuple[str, ...]) -> bool:
            results[points] = self._make_run(points)
            return self._fails(results[points])

        for points in sets:
            if points and fails(points):
                runs_left = max(0, self._most_runs - self._run_count)
                search = smallest(points, fails, int(min(self._most_runs_each, runs_left)))
                return NarrowFailure(
                    search.items, results[search.items], search.tries, search.finished
                )
        return None

    def _make_run(self, points: tuple[str, ...]) -> R:
        self._run_count += 1
        return self._run(points)


def varied_results(
    trial: VariedTrial,
    run: Callable[[VariedTrial], TrialResult],
    run_unvaried: Callable[[], TrialResult],
    known_points: Sequence[str],
) -> Iterator[TrialResult]:
    """Yield the results of runs of a judgment whose responses vary with the seed of a trial.

    `run` makes a run. If the client fails, the result is the failure at as few points as possible.
    `known_points` are left out from the beginning. If the client does not fail, the only result is the
    result of the whole trial.

    `run_unvaried` returns the result of a run under the same conditions without varied responses. It
    is called only if the client fails. If the client fails in this run, too, the run's result is yielded,
    and equal failures of varied runs do not count.
    """
    candidates = tuple(point for point in trial.conditions.vary_only if point not in known_points)
    if not candidates:
        return
    first = run(replace(trial, points=candidates) if known_points else trial)
    if not is_varied_failure(first):
        yield first
        return
    unvaried = run_unvaried()
    if is_varied_failure(unvaried):
        yield unvaried

    def fails(result: TrialResult) -> bool:
        return is_varied_failure(result) and not _end_alike(result, unvaried)

    if not fails(first):
        yield replace(first, verdict="unclear")
        return
    search = PointSearch(
        lambda points: run(replace(trial, points=points)),
        fails,
        most_runs=_MOST_RUNS * _MOST_CAUSES,
        most_runs_each=_MOST_RUNS,
    )
    failures = search.failures(first, candidates, points_of_same_causes)
    for failure in islice(failures, _MOST_CAUSES):
        yield failure.result


def _end_alike(result: TrialResult, other: TrialResult) -> bool:
    """Return whether two runs have the same verdict for the same reasons."""
    return (result.verdict, result.reasons) == (other.verdict, other.reasons)
