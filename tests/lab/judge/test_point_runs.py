"""The runs of an exploration: two clean runs, a second run after a failure, and suitable delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hosting_emulator_lab.judge.clean_runs import compare_clean_runs
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.point_runs import CLEAN_LIMIT_S, exploration_runs, run_point
from hosting_emulator_lab.judge.run_results import CleanRun, CleanRunFailed, RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.time_limits import TimeLimits
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import FaultTrial
from hosting_emulator_lab.run_conditions import RunConditions
from tests.lab.judge.samples import exchange, observed, sample_clean_run, sample_observation, state
from tests.lab.judge.test_causes import finding

TIMEOUT = "create_user_api_key#1/timeout/after_commit"
FAILURE = RunEnd(3)
SUCCESS = RunEnd(0)


def run_timeout_point(*ends: RunEnd) -> tuple[TrialResult, int]:
    """Run a point. Its runs end like `ends`. Return its result and the number of runs."""
    run_names: list[str] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = sample_observation(hit=True)
        run_names.append(name)
        return replace(ends[len(run_names) - 1], printed_lines=("many", "lines"))

    point_result = run_point(
        exploration_runs(perform), FaultPoint.read(TIMEOUT), sample_clean_run()
    )
    assert point_result.printed_lines == ()
    return point_result, len(run_names)


def test_a_run_that_goes_well_is_not_repeated():
    point_result, run_count = run_timeout_point(SUCCESS)

    assert (point_result.verdict, point_result.reasons, run_count) == ("survived", (), 1)


def test_a_failure_counts_if_it_recurs_in_a_second_run():
    point_result, run_count = run_timeout_point(FAILURE, FAILURE)

    assert (point_result.verdict, point_result.reasons) == ("failed", ("exit code 3",))
    assert point_result.causes == ("fails-after-recovery",)
    assert run_count == 2


def test_a_failure_that_does_not_recur_is_only_mentioned():
    point_result, run_count = run_timeout_point(FAILURE, SUCCESS)

    assert point_result.verdict == "survived"
    assert point_result.reasons == ("the first of two runs: failed; exit code 3",)
    assert run_count == 2


def test_a_hung_run_is_not_repeated():
    point_result, run_count = run_timeout_point(RunEnd(143, hung=True))

    assert (point_result.verdict, run_count) == ("hung", 1)


@pytest.mark.parametrize(
    ("fault", "expected_delays"),
    [("latency", [2000, 100]), ("slow_response", [2000, 100]), ("timeout", [1000])],
)
def test_a_client_that_fails_because_of_a_late_response_gets_earlier_responses(
    fault: str, expected_delays: list[int]
):
    delays: list[int] = []
    points: list[str] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        delays.append(visit.late_ms)
        points.append(str(visit.point))
        visit.observation = sample_observation(hit=True, request_count=1)
        return FAILURE

    point = FaultPoint.read(f"create_user_api_key#1/{fault}/before_commit")
    clean_run = sample_clean_run(sample_observation(request_count=1))
    exploration_runs(perform).trial(FaultTrial(point), clean_run)

    first_points = ["create_user_api_key#1/latency/before_commit", str(point)]
    assert delays == expected_delays
    assert points == first_points[-len(delays) :]


@pytest.mark.parametrize(("timeout_s", "late_ms"), [(1.5, 100), (30.0, 1000)])
def test_a_late_response_arrives_within_the_timeout_of_the_client(timeout_s: float, late_ms: int):
    delays: list[int] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        delays.append(visit.late_ms)
        is_retried = visit.late_ms > timeout_s * 1000
        visit.observation = sample_observation(hit=True, request_count=1 + is_retried)
        return SUCCESS

    runs = exploration_runs(perform)
    clean_run = sample_clean_run(sample_observation(request_count=1))
    for phase in ("before_commit", "after_commit"):
        point = FaultPoint.read(f"create_user_api_key#1/latency/{phase}")
        run_point(runs, point, clean_run)

    assert delays == [2000, late_ms, late_ms]


def test_the_choices_of_a_user_reach_the_runs_of_an_exploration():
    chosen = RunConditions(clock="scaled", rate=60.0)
    limits: list[float | None] = []
    run_conditions: list[RunConditions] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        limits.append(limit_s)
        run_conditions.append(conditions)
        visit.observation = sample_observation(hit=True)
        visit.findings_by_chapter = {0: [finding("retried-too-soon", "warning")]}
        return SUCCESS

    runs = exploration_runs(perform, limit_s=5.0, conduct="error", conditions=chosen)
    point_result = run_point(runs, FaultPoint.read(TIMEOUT), sample_clean_run())

    assert point_result.verdict == "misbehaved"
    assert (limits, run_conditions) == ([5.0, 5.0], [chosen, chosen])


class CleanRuns:
    """Makes clean runs that end like this, and records the time limit of each run."""

    def __init__(self, *ends: RunEnd, keys: Sequence[str] = ("a", "b")) -> None:
        self.limits_s: list[float | None] = []
        self._ends = ends
        self._keys = keys

    def perform(
        self, visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        index = len(self.limits_s)
        self.limits_s.append(limit_s)
        key_request = exchange("create_user_api_key", 201, idempotency_key=self._keys[index])
        visit.observation = observed(number_requests([key_request]), state())
        return self._ends[index]


def clean_run_of(runs: CleanRuns) -> CleanRun:
    """Make the two clean runs of an exploration, and return the clean run that they come to."""
    return compare_clean_runs(exploration_runs(runs.perform), limit_s=CLEAN_LIMIT_S)


@pytest.mark.parametrize(
    ("durations_s", "limit_s"),
    [((2.0, 1.0), 10.0), ((30.0, 20.0), 60.0), ((5.0, 4.36), 13.1)],
)
def test_the_time_limit_is_three_times_the_shorter_clean_run(
    durations_s: tuple[float, float], limit_s: float
):
    runs = CleanRuns(*(RunEnd(0, duration_s=duration_s) for duration_s in durations_s))

    clean_run = clean_run_of(runs)

    assert clean_run.end.duration_s == min(durations_s)
    assert runs.limits_s == [CLEAN_LIMIT_S, CLEAN_LIMIT_S]
    assert TimeLimits().limit_s(clean_run, is_lasting=False) == limit_s
    assert TimeLimits().limit_s(clean_run, is_lasting=True) == pytest.approx(2 * limit_s, abs=0.1)


def test_a_time_limit_of_the_user_is_never_longer():
    limits = TimeLimits(5.0)

    assert limits.limit_s(sample_clean_run(), is_lasting=True) == 5.0


@pytest.mark.parametrize(
    ("ends", "is_second", "message"),
    [
        ([RunEnd(3)], False, "ended with 3"),
        ([RunEnd(0), RunEnd(143, hung=True)], True, "did not end within 600 s"),
    ],
)
def test_a_clean_run_that_does_not_succeed_is_an_error(
    ends: list[RunEnd], is_second: bool, message: str
):
    with pytest.raises(CleanRunFailed, match=message) as error:
        clean_run_of(CleanRuns(*ends))

    assert error.value.is_second is is_second
    assert error.value.end == ends[-1]


def test_output_that_differs_between_clean_runs_is_unknown():
    first = RunEnd(0, printed_lines=("made key 1",))
    second = RunEnd(0, printed_lines=("made key 2",))
    other = RunEnd(0, printed_lines=("made no key",))

    assert clean_run_of(CleanRuns(first, second)).end.printed_lines == ("made key 1",)
    assert clean_run_of(CleanRuns(first, other)).end.printed_lines is None


@pytest.mark.parametrize(
    ("keys", "same_keys"), [(("a", "b"), ()), (("a", "a"), ("create_user_api_key#1",))]
)
def test_the_clean_run_names_requests_that_had_the_same_key_twice(
    keys: tuple[str, str], same_keys: tuple[str, ...]
):
    runs = CleanRuns(RunEnd(0), RunEnd(0), keys=keys)

    assert clean_run_of(runs).same_keys == same_keys


@pytest.mark.parametrize(
    ("fault", "limit_s"), [("timeout/after_commit", 10.0), ("value_lost/lasting", 20.0)]
)
def test_a_lasting_effect_doubles_the_time_limit(fault: str, limit_s: float):
    limits_s: list[float | None] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = sample_observation(hit=True)
        limits_s.append(limit_s)
        return RunEnd(0)

    point = FaultPoint.read(f"create_user_api_key#1/{fault}")
    exploration_runs(perform).trial(FaultTrial(point), sample_clean_run())

    assert limits_s == [limit_s]
