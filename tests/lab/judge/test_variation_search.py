"""A search names the fewest variation points at which a client fails, within a number of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import PhasesTrial, VariedTrial
from hosting_emulator_lab.judge.variation_search import (
    NarrowFailure,
    PointSearch,
    varied_results,
)

POINTS = tuple(f"point-{number}" for number in range(16))


@dataclass(frozen=True)
class Result:
    """The result of a run."""

    varied: tuple[str, ...]
    failed: bool


class Runs:
    """Makes runs that fail where a test says so. `log` lists the points of all runs."""

    def __init__(
        self,
        fails: Callable[[tuple[str, ...]], bool],
        varied: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple,
    ) -> None:
        self.log: list[tuple[str, ...]] = []
        self._fails = fails
        self._varied = varied

    def run(self, points: tuple[str, ...]) -> Result:
        self.log.append(points)
        return Result(self._varied(points), self._fails(points))

    def failures(
        self, *, most_runs: int = 100, most_runs_each: int = 100, retries_all: bool = False
    ) -> list[NarrowFailure[Result]]:
        """Return the failures that a search finds after a run with variation at all points."""
        first = self.run(POINTS)
        self.log.clear()
        search = PointSearch(
            self.run,
            lambda result: result.failed,
            most_runs=most_runs,
            most_runs_each=most_runs_each,
        )
        return list(search.failures(first, POINTS, tuple, retries_all=retries_all))


def test_each_failure_is_found_although_one_hides_the_other() -> None:
    runs = Runs(lambda points: "point-3" in points or {"point-5", "point-9"} <= {*points})

    failures = runs.failures()

    assert [failure.points for failure in failures] == [("point-3",), ("point-5", "point-9")]
    assert [failure.result for failure in failures] == [
        Result(("point-3",), failed=True),
        Result(("point-5", "point-9"), failed=True),
    ]
    assert all(failure.is_smallest for failure in failures)


def test_points_with_the_same_cause_are_left_out_together() -> None:
    runs = Runs(lambda points: "point-3" in points or "point-4" in points)
    search = PointSearch(runs.run, lambda result: result.failed, most_runs=100, most_runs_each=100)

    failures = list(search.failures(runs.run(POINTS), POINTS, lambda _: ("point-3", "point-4")))

    assert len(failures) == 1
    assert not {"point-3", "point-4"} & {*runs.log[-1]}


def test_a_failure_that_does_not_recur_has_no_points() -> None:
    runs = Runs(lambda points: len(points) == len(POINTS), varied=lambda points: points[:8])

    assert runs.failures() == []
    assert runs.log == [POINTS[:8]]


def test_all_points_are_tried_again_where_unseen_points_may_matter() -> None:
    runs = Runs(lambda points: "point-12" in points, varied=lambda points: points[:8])

    (failure,) = runs.failures(retries_all=True)

    assert failure.points == ("point-12",)


def test_a_search_says_that_its_runs_did_not_suffice() -> None:
    (failure,) = Runs(lambda points: "point-3" in points).failures(most_runs=3)

    assert not failure.is_smallest
    assert "point-3" in failure.points


def test_each_failure_has_its_own_limit() -> None:
    runs = Runs(lambda points: "point-3" in points or "point-12" in points)

    failures = runs.failures(most_runs_each=2)

    assert [failure.tries for failure in failures[:2]] == [2, 2]


def test_a_search_makes_no_more_runs_than_it_may() -> None:
    runs = Runs(lambda points: len(points) % 2 == 0)

    runs.failures(most_runs=10)

    assert len(runs.log) <= 10


@pytest.mark.parametrize("most_runs", range(10, 30))
def test_a_search_for_several_failures_makes_no_more_runs_than_it_may(most_runs: int) -> None:
    runs = Runs(
        lambda points: not {"point-3", "point-5", "point-9"}.isdisjoint(points),
        varied=lambda points: tuple(point for point in points if point != "point-9"),
    )

    runs.failures(most_runs=most_runs, retries_all=True)

    assert len(runs.log) <= most_runs


def survives_unvaried() -> TrialResult:
    """Return the result of a run without variation in which the client does not fail."""
    return TrialResult(PhasesTrial(), "survived", (), 0, 0.5)


def differs(trial: VariedTrial | PhasesTrial, *reasons: str) -> TrialResult:
    """Return the result of a run that leaves another state than the clean run, for these reasons."""
    varied = trial.points if isinstance(trial, VariedTrial) else ()
    return TrialResult(trial, "differs", reasons, 0, 0.5, varied=varied)


def test_a_failure_that_needs_no_variation_is_explained_by_none() -> None:
    """Operations last longer than in the clean run, and the client does not wait for their end."""

    def run(trial: VariedTrial) -> TrialResult:
        return differs(trial, "operation running")

    unvaried = differs(PhasesTrial(), "operation running")
    results = list(varied_results(VariedTrial("1"), run, lambda: unvaried, []))

    assert [(str(result.trial), result.verdict) for result in results] == [
        ("phases", "differs"),
        ("vary/1", "unclear"),
    ]


def test_a_failure_that_a_variation_adds_is_found_beside_one_that_needs_none() -> None:
    def run(trial: VariedTrial) -> TrialResult:
        reasons = ["operation running"]
        if "page-size" in (trial.points or trial.conditions.vary_only):
            reasons.append("items are missing")
        points = trial.points or trial.conditions.vary_only
        return replace(differs(trial, *reasons), varied=points)

    unvaried = differs(PhasesTrial(), "operation running")
    results = list(varied_results(VariedTrial("1"), run, lambda: unvaried, []))

    assert [str(result.trial) for result in results] == ["phases", "vary/1/page-size"]


def test_a_client_that_does_not_fail_has_the_result_of_the_whole_trial() -> None:
    trial = VariedTrial("1")
    run_trials: list[VariedTrial] = []

    def run(trial: VariedTrial) -> TrialResult:
        run_trials.append(trial)
        varied = trial.conditions.vary_only[:2]
        return TrialResult(trial, "survived", (), 0, 0.5, varied=varied)

    (result,) = varied_results(trial, run, survives_unvaried, [])

    assert result.trial == trial
    assert run_trials == [trial]


def test_points_whose_cause_is_known_are_left_out_of_the_first_run() -> None:
    trial = VariedTrial("1")
    known_point, *others = trial.conditions.vary_only

    def run(trial: VariedTrial) -> TrialResult:
        return TrialResult(trial, "survived", (), 0, 0.5)

    (result,) = varied_results(trial, run, survives_unvaried, [known_point])

    assert result.trial == VariedTrial("1", tuple(others))


def test_a_trial_without_points_to_try_makes_no_run() -> None:
    def run(trial: VariedTrial) -> TrialResult:
        raise AssertionError(f"{trial} was run")

    trial = VariedTrial("1")

    assert list(varied_results(trial, run, survives_unvaried, trial.conditions.vary_only)) == []
