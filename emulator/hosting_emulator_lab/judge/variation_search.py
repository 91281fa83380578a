"""Finds out at which variation points a client fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hosting_emulator_lab.delta_debugging import smallest
from hosting_emulator_lab.judge.symptoms import is_varied_failure
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import VariedTrial
from hosting_emulator_lab.judge.variation_causes import points_of_same_causes

#: The maximum number of runs that narrow one failure down.
_MOST_RUNS = 16
#: The maximum number of causes to look for with one seed.
_MOST_CAUSES = 6


def varied_results(
    trial: VariedTrial, run: Callable[[VariedTrial], TrialResult], known_points: Sequence[str]
) -> Iterator[TrialResult]:
    """Yield the results of runs whose responses vary with the seed of a trial.

    `run` makes a run. If the client fails, the result is the failure at as few points as possible.
    After each failure, the search continues without the points that show the same cause, because
    one mistake may hide another. `known_points` are left out from the beginning. If the client does
    not fail, the only result is the result of the whole trial.
    """
    excluded = list(known_points)
    for number in range(_MOST_CAUSES):
        candidates = [point for point in trial.conditions.vary_only if point not in excluded]
        if not candidates:
            return
        result = run(replace(trial, points=tuple(candidates)) if excluded else trial)
        if not is_varied_failure(result):
            if number == 0:
                yield result
            return
        narrowed = _narrow(result, run) if result.varied else None
        if narrowed is None:
            return
        yield narrowed
        assert isinstance(narrowed.trial, VariedTrial)
        excluded += points_of_same_causes(narrowed.trial.points)


def _narrow(failure: TrialResult, run: Callable[[VariedTrial], TrialResult]) -> TrialResult | None:
    """Return the result at the fewest points at which the client still fails.

    Returns None if the client does not fail when only the points that varied are used.
    """
    assert isinstance(failure.trial, VariedTrial)
    seed = failure.trial.seed
    results: dict[tuple[str, ...], TrialResult] = {}

    def fails(points: tuple[str, ...]) -> bool:
        results[points] = run(VariedTrial(seed, points))
        return is_varied_failure(results[points])

    if not fails(failure.varied):
        return None
    points = smallest(failure.varied, fails, _MOST_RUNS).items
    return results[points]
