"""A run at a point is repeated if it goes wrong, and its delays suit the client."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.point_runs import PointRuns
from hosting_emulator_lab.judge.run_results import PointResult, RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from tests.lab.judge.samples import sample_clean_run, sample_observation

TIMEOUT = "create_user_api_key#1/timeout/after_commit"
FAILURE = RunEnd(3)
SUCCESS = RunEnd(0)


def run_point(*ends: RunEnd) -> tuple[PointResult, int]:
    """Run a point. Its runs end like `ends`. Return its result and the number of runs."""
    run_names: list[str] = []

    def perform(visit: RunVisit, name: str, limit_s: float | None) -> RunEnd:
        visit.observation = sample_observation(hit=True)
        run_names.append(name)
        return ends[len(run_names) - 1]

    point_result = PointRuns(perform).result("run-1", FaultPoint.read(TIMEOUT), sample_clean_run())
    return point_result, len(run_names)


def test_a_run_that_goes_well_is_not_repeated():
    point_result, run_count = run_point(SUCCESS)

    assert (point_result.verdict, point_result.reasons, run_count) == ("survived", (), 1)


def test_a_failure_counts_if_it_recurs_in_a_second_run():
    point_result, run_count = run_point(FAILURE, FAILURE)

    assert (point_result.verdict, point_result.reasons) == ("failed", ("exit code 3",))
    assert run_count == 2


def test_a_failure_that_does_not_recur_is_only_mentioned():
    point_result, run_count = run_point(FAILURE, SUCCESS)

    assert point_result.verdict == "survived"
    assert point_result.reasons == ("the first of two runs: failed; exit code 3",)
    assert run_count == 2


def test_a_hung_run_is_not_repeated():
    point_result, run_count = run_point(RunEnd(143, hung=True))

    assert (point_result.verdict, run_count) == ("hung", 1)


@pytest.mark.parametrize(("timeout_s", "late_ms"), [(1.5, 100), (30.0, 1000)])
def test_a_late_response_arrives_within_the_timeout_of_the_client(timeout_s: float, late_ms: int):
    delays: list[int] = []

    def perform(visit: RunVisit, name: str, limit_s: float | None) -> RunEnd:
        delays.append(visit.late_ms)
        is_retried = visit.late_ms > timeout_s * 1000
        visit.observation = sample_observation(hit=True, request_count=1 + is_retried)
        return SUCCESS

    point_runs = PointRuns(perform)
    clean_run = sample_clean_run(sample_observation(request_count=1))
    for phase in ("before_commit", "after_commit"):
        point = FaultPoint.read(f"create_user_api_key#1/latency/{phase}")
        point_runs.result("run", point, clean_run)

    assert delays == [2000, late_ms, late_ms]
