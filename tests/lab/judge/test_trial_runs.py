"""A run that is alone waits for others, but not for clients that wait; runs have conditions and limits."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator_lab.judge.client_requests import ObservedResponse, number_requests
from hosting_emulator_lab.judge.exchange_counts import FastAttempts
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trial_runs import PerformTrial, TrialRuns
from hosting_emulator_lab.judge.trials import CleanTrial, read_trial
from hosting_emulator_lab.run_conditions import RunConditions, RunsStopped
from tests.lab.judge.samples import (
    exchange,
    keyed_requests,
    observed,
    requests,
    sample_clean_run,
    sample_observation,
    state,
)
from tests.lab.judge.test_causes import finding

PATIENCE_S = 10.0
#: A run that waits for others does not end within this time.
TOO_SHORT_S = 0.03


class StopHere(Exception):
    """Ends a run that a test has seen enough of."""


def test_a_client_that_waits_for_ever_does_not_keep_a_run_from_being_alone() -> None:
    waiting = threading.Event()
    may_end = threading.Event()

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        if visit.point is None:
            return RunEnd(0)
        waiting.set()
        may_end.wait(PATIENCE_S)
        raise StopHere

    runs = TrialRuns(perform, limit_s=None, skip_rules=())
    clean_run = sample_clean_run()
    trial = read_trial("create_user_api_key#1/timeout/after_commit")

    def wait_for_response() -> None:
        with contextlib.suppress(StopHere):
            runs.trial(trial, clean_run)

    thread = threading.Thread(target=wait_for_response)
    thread.start()
    assert waiting.wait(PATIENCE_S)
    end, _ = runs.clean(CleanTrial(), PATIENCE_S, alone=True)
    is_still_waiting = thread.is_alive()
    may_end.set()
    thread.join(PATIENCE_S)
    assert is_still_waiting
    assert end.exit_code == 0


def test_runs_are_counted_and_their_worlds_are_numbered() -> None:
    world_names: list[str] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        world_names.append(name)
        return RunEnd(0)

    runs = TrialRuns(perform, limit_s=None)
    for _ in range(2):
        runs.clean(CleanTrial(), PATIENCE_S, alone=True)

    assert runs.run_count == 2
    assert world_names == ["run-1", "run-2"]


@pytest.mark.parametrize("chosen", [None, RunConditions(clock="scaled", rate=60.0)])
def test_a_trial_decides_on_its_conditions_unless_they_are_chosen(
    chosen: RunConditions | None,
) -> None:
    conditions_of_runs: list[RunConditions] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        conditions_of_runs.append(conditions)
        return RunEnd(0)

    trial = CleanTrial("base-path")
    runs = TrialRuns(perform, limit_s=None, conditions=chosen)
    runs.clean(trial, PATIENCE_S, alone=True)

    assert conditions_of_runs == [chosen or trial.conditions]


def noting_limits(limits_s: list[float | None], end: RunEnd) -> PerformTrial:
    """Return a function that adds the time limit of each run to a list. All runs end alike."""

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = sample_observation(hit=True)
        limits_s.append(limit_s)
        return end

    return perform


@pytest.mark.parametrize(("own_limit_s", "limit_s"), [(None, 10.0 + 7.0), (5.0, 5.0)])
def test_a_client_may_wait_longer_for_what_does_not_come(
    own_limit_s: float | None, limit_s: float
) -> None:
    limits_s: list[float | None] = []
    perform = noting_limits(limits_s, RunEnd(0))

    runs = TrialRuns(perform, limit_s=own_limit_s, long_wait_s=7.0)
    runs.trial(read_trial("create_user_api_key#1/timeout/after_commit"), sample_clean_run())

    assert limits_s == [limit_s]


@pytest.mark.parametrize(
    ("seconds_left", "limit_s", "hung", "is_decided"),
    [
        (1000.0, 10.0, True, True),
        (4.0, 4.0, True, False),
        (4.0, 4.0, False, True),
        (-1.0, None, False, False),
    ],
    ids=["much time", "too little time", "enough time", "no time"],
)
def test_a_trial_that_is_ended_before_its_time_limit_is_not_decided(
    monkeypatch: pytest.MonkeyPatch,
    seconds_left: float,
    limit_s: float | None,
    hung: bool,
    is_decided: bool,
) -> None:
    limits_s: list[float | None] = []
    perform = noting_limits(limits_s, RunEnd(1, hung))
    monkeypatch.setattr("time.monotonic", lambda: 500.0)
    runs = TrialRuns(perform, limit_s=None)
    runs.trials_end_at = 500.0 + seconds_left
    trial = read_trial("create_user_api_key#1/rate_limit/before_commit")
    outcome = contextlib.nullcontext() if is_decided else pytest.raises(RunsStopped)

    with outcome:
        runs.trial(trial, sample_clean_run())

    assert limits_s == ([] if limit_s is None else [limit_s])


def test_a_clean_run_has_its_own_time_limit() -> None:
    limits_s: list[float | None] = []
    runs = TrialRuns(noting_limits(limits_s, RunEnd(0)), limit_s=None)
    runs.trials_end_at = time.monotonic() - 1.0
    runs.clean(CleanTrial(), PATIENCE_S, alone=True)

    assert limits_s == [PATIENCE_S]


def slowness_of(
    *ends: RunEnd, duration_s: float = 0.5, **options: Any
) -> tuple[bool, list[float | None]]:
    """Return whether the machine counts as slow if clean runs end like this, and their time limits.

    The earlier clean run took `duration_s`. `options` are those of TrialRuns.
    """
    limits_s: list[float | None] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        limits_s.append(limit_s)
        return ends[len(limits_s) - 1]

    clean = sample_clean_run()
    clean = replace(clean, end=replace(clean.end, duration_s=duration_s))
    return TrialRuns(perform, **{"limit_s": None, **options}).is_machine_slow(clean), limits_s


@pytest.mark.parametrize(
    ("end", "is_slow"), [(RunEnd(0), False), (RunEnd(143, hung=True), True), (RunEnd(1), True)]
)
def test_a_machine_is_slow_if_another_clean_run_does_not_succeed_in_time(
    end: RunEnd, is_slow: bool
) -> None:
    assert slowness_of(end)[0] == is_slow


@pytest.mark.parametrize(
    ("duration_s", "own_limit_s", "limit_s"),
    [(1.0, None, 1.0 + 10 / 6), (20.0, None, 30.0), (1.0, 60.0, 11.0), (4.0, 5.0, 6.0)],
)
def test_another_clean_run_may_take_a_little_longer_than_the_first(
    duration_s: float, own_limit_s: float | None, limit_s: float
) -> None:
    _, limits_s = slowness_of(RunEnd(0), duration_s=duration_s, limit_s=own_limit_s)

    assert limits_s == [pytest.approx(limit_s)]


def test_a_look_at_the_machine_is_not_decided_if_the_judgment_ends_during_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits_s: list[float | None] = []
    monkeypatch.setattr("time.monotonic", lambda: 500.0)
    runs = TrialRuns(noting_limits(limits_s, RunEnd(143, hung=True)), limit_s=None)
    runs.trials_end_at = 501.0

    with pytest.raises(RunsStopped):
        runs.is_machine_slow(sample_clean_run())

    assert limits_s == [1.0]


def test_a_run_that_sent_too_many_requests_is_decided_although_the_judgment_ends() -> None:
    end = RunEnd(143, hung=True, duration_s=0.5, sent_too_much=True)
    runs = TrialRuns(noting_limits([], end), limit_s=None)
    runs.trials_end_at = time.monotonic() + 1.0

    assert runs.is_machine_slow(sample_clean_run())


@pytest.mark.parametrize("is_foreign", [True, False])
def test_the_load_of_the_waiting_client_does_not_make_the_machine_slow(is_foreign: bool) -> None:
    """A run that waits for a response, and meanwhile uses a processor, makes a clean run slow."""
    is_waiting = threading.Event()
    may_end = threading.Event()
    has_ended = threading.Event()
    looks: list[bool] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = sample_observation(hit=True)
        if visit.point is not None:
            is_waiting.set()
            may_end.wait(PATIENCE_S)
            has_ended.set()
            return RunEnd(0)
        looks.append(has_ended.is_set())
        may_end.set()
        return RunEnd(0, hung=is_foreign or not has_ended.is_set())

    runs = TrialRuns(perform, limit_s=None)
    trial = read_trial("create_user_api_key#1/timeout/after_commit")
    waiting = threading.Thread(target=runs.trial, args=(trial, sample_clean_run()))
    waiting.start()
    assert is_waiting.wait(PATIENCE_S)

    is_slow = runs.is_machine_slow(sample_clean_run())
    waiting.join(PATIENCE_S)

    assert is_slow == is_foreign
    assert looks == [False, True]


def listing(*cursors: str | None, items: Sequence[Sequence[str]] = ()) -> Observation:
    """Return the observation of a run that lists pages of deployments with these next cursors.

    `items` are the ids of the deployments on each page, which is empty by default.
    """
    responses = {}
    exchanges = []
    query = ""
    for number, cursor in enumerate(cursors, 1):
        exchanges.append(exchange("list_deployments", n=number, query=query))
        page_ids = items[number - 1] if items else ()
        content: dict[str, object] = {"items": [{"id": id_} for id_ in page_ids]}
        if cursor is not None:
            content["next_cursor"] = cursor
        responses[(0, number)] = ObservedResponse(9, content)
        query = f"cursor={cursor}"
    return observed(number_requests(exchanges, responses), state())


WHOLE_LIST = listing("abc", None)
FIRST_PAGE = listing("abc")


def clean_run_that_lists(observation: Observation) -> CleanRun:
    """Return a clean run in which the client prints `done`."""
    ends = (RunEnd(0, printed_lines=("done",)), observation)
    return CleanRun.of_two_runs(state(), ends, ends)


def result_of(
    trial: str, observation: Observation, clean: CleanRun, printed_lines: tuple[str, ...]
) -> TrialResult:
    """Return the result of a trial in which the client prints lines, and then fails if it prints none."""

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = observation
        visit.fault_hits = 1
        exit_code = 0 if printed_lines else 3
        return RunEnd(
            exit_code,
            duration_s=1.23456,
            output=("bye",),
            printed_lines=printed_lines,
            varied=("page-size",),
        )

    return TrialRuns(perform, limit_s=None).trial(read_trial(trial), clean)


@pytest.mark.parametrize(
    ("printed_lines", "effect", "reasons"),
    [(("done",), "ignores", ()), (("done: None",), "shows", ("its output differs",))],
)
def test_an_altered_run_that_only_prints_something_else_says_so(
    printed_lines: tuple[str, ...], effect: str, reasons: tuple[str, ...]
) -> None:
    trial = "alter/list_deployments/2xx/remove:/next_cursor"
    clean = clean_run_that_lists(WHOLE_LIST)

    result = result_of(trial, WHOLE_LIST, clean, printed_lines)

    assert (result.hit, result.effect, result.reasons) == (True, effect, reasons)


@pytest.mark.parametrize(
    ("clean_listing", "page"),
    [(WHOLE_LIST, "list_deployments#1"), (FIRST_PAGE, "")],
    ids=["the clean run reads on", "the clean run stops too"],
)
def test_a_client_stopped_at_a_page_only_if_its_clean_run_reads_on(
    clean_listing: Observation, page: str
) -> None:
    clean = clean_run_that_lists(clean_listing)

    assert result_of("vary/1", FIRST_PAGE, clean, ("done",)).stopped_at_page == page
    assert result_of("vary/1", WHOLE_LIST, clean, ("done",)).stopped_at_page == ""


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [(("test-1", "test-2"), "gave up"), (("test-1", "retry", "test-2"), "misbehaved")],
)
def test_a_key_that_the_clean_run_uses_as_well_does_not_count_toward_the_verdict(
    keys: tuple[str, ...], verdict: str
) -> None:
    """After an outage, the next test of a suite requests the same change with another key."""
    call = "apply_project_domains"
    usual_requests = keyed_requests(call, "test-1", "test-2")
    clean = CleanRun.of_two_runs(
        state(),
        (RunEnd(0), observed(usual_requests, state())),
        (RunEnd(0), observed(usual_requests, state())),
    )
    made = keyed_requests(call, *keys)
    accusation = finding("new-key-after-uncertainty")

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        texts = (f"{accusation.rule}: {accusation.title}",)
        visit.observation = observed(made, state(), hit=True, conduct=texts, conduct_errors=texts)
        visit.exchanges = visit.observation.exchanges
        visit.findings_by_chapter = {0: [accusation]}
        return RunEnd(1)

    result = TrialRuns(perform, limit_s=None).trial(read_trial(f"{call}#1/outage/lasting"), clean)

    assert result.verdict == verdict


@pytest.mark.parametrize(
    ("trial", "is_early"),
    [
        ("list_deployments#1/truncate/after_commit", True),
        ("list_deployments#1/abort:forbidden/lasting", False),
    ],
)
def test_only_a_transient_failure_can_interrupt_the_work_of_a_client(
    trial: str, is_early: bool
) -> None:
    made = observed(requests("list_deployments"), state(), hit=True)
    usual = observed(requests("list_deployments", "list_deployments"), state())
    ends = (RunEnd(0, printed_lines=("done",)), usual)

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = made
        return RunEnd(0, printed_lines=())

    clean = CleanRun.of_two_runs(state(), ends, ends)
    result = TrialRuns(perform, limit_s=None).trial(read_trial(trial), clean)

    assert bool(result.early_end) == is_early


@pytest.mark.parametrize("trial", ["create_user_api_key#1/timeout/before_commit", "vary/1"])
@pytest.mark.parametrize("prints_token", [True, False])
def test_the_result_of_a_trial_tells_whether_the_client_printed_its_token(
    trial: str, prints_token: bool
) -> None:
    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = sample_observation(hit=True)
        return RunEnd(0, prints_token=prints_token)

    result = TrialRuns(perform, limit_s=None).trial(read_trial(trial), sample_clean_run())

    assert result.prints_token == prints_token


@pytest.mark.parametrize("trial", ["create_user_api_key#1/timeout/before_commit", "vary/1"])
def test_an_invalid_request_of_a_trial_is_part_of_its_result(trial: str) -> None:
    call = "create_user_api_key"
    invalid = exchange(call, 400, code="invalid_request", why=("The name is empty.",), n=2)
    made = sample_observation(hit=True, exchanges=(exchange(call), invalid))

    result = result_of(trial, made, sample_clean_run(), ())

    assert result.invalid_request.endswith("The name is empty.")


@pytest.mark.parametrize(
    "trial", ["alter/list_deployments/2xx/status", "accept/list_deployments#1"]
)
def test_an_alteration_that_met_no_response_did_not_hit(trial: str) -> None:
    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        visit.observation = WHOLE_LIST
        return RunEnd(0, printed_lines=("done",))

    runs = TrialRuns(perform, limit_s=None)

    assert not runs.trial(read_trial(trial), clean_run_that_lists(WHOLE_LIST)).hit


def test_a_run_that_is_alone_waits_until_other_runs_have_ended() -> None:
    is_running = threading.Event()
    may_end = threading.Event()
    log: list[str] = []

    def perform(
        visit: RunVisit, name: str, limit_s: float | None, conditions: RunConditions
    ) -> RunEnd:
        if visit.point is not None:
            is_running.set()
            may_end.wait(PATIENCE_S)
        log.append("clean" if visit.point is None else str(visit.point))
        visit.observation = sample_observation(hit=True)
        return RunEnd(0)

    runs = TrialRuns(perform, limit_s=None)
    trial = read_trial("create_user_api_key#1/connection_reset/after_commit")
    beside = threading.Thread(target=runs.trial, args=(trial, sample_clean_run()))
    alone = threading.Thread(
        target=runs.clean, args=(CleanTrial(), PATIENCE_S), kwargs={"alone": True}
    )

    beside.start()
    assert is_running.wait(PATIENCE_S)
    alone.start()
    alone.join(TOO_SHORT_S)
    may_end.set()
    beside.join(PATIENCE_S)
    alone.join(PATIENCE_S)

    assert log == [str(trial), "clean"]


@pytest.mark.parametrize(
    ("trial", "fields"),
    [
        ("list_deployments#1/rate_limit/before_commit", {"hit": True, "has_recovered": True}),
        ("vary/1", {"varied": ("page-size",)}),
        (
            "alter/create_user_api_key/2xx/status",
            {"effect": "depends", "is_allowed": True},
        ),
        ("accept/list_deployments#1", {}),
    ],
)
def test_the_result_of_each_kind_of_trial_describes_its_run(
    trial: str, fields: dict[str, Any]
) -> None:
    [create_key] = requests("create_user_api_key")
    create_key = replace(
        create_key,
        response={"key": {}, "value": "phk_1", "replayed": False},
        response_headers=(("Content-Type", "application/json"),),
    )
    observation = replace(WHOLE_LIST, requests=(*WHOLE_LIST.requests, create_key), hit=True)

    result = result_of(trial, observation, clean_run_that_lists(observation), ())

    assert result == TrialResult(
        trial=read_trial(trial),
        verdict="failed",
        reasons=("exit code 3",),
        exit_code=3,
        duration_s=1.235,
        output=("bye",),
        **fields,
    )


def test_the_result_of_a_fault_compares_its_run_with_the_clean_run() -> None:
    """The run repeats a request quickly and receives a replay, although the clean run is refused."""
    refusal = exchange("create_user_api_key", 409)
    clean = sample_clean_run(sample_observation(requests=number_requests([refusal])))
    replay = exchange("create_user_api_key", 200, replayed=True)
    observation = sample_observation(
        requests=number_requests([replay, replay]),
        hit=True,
        fast_attempts=(FastAttempts(replay.method, replay.path, 4),),
    )

    result = result_of(
        "create_user_api_key#1/rate_limit/before_commit", observation, clean, ("done",)
    )

    assert result == TrialResult(
        trial=result.trial,
        verdict="survived",
        reasons=(),
        exit_code=0,
        duration_s=1.235,
        additional_replays=2,
        fast_attempts=4,
        is_refused_anyway=True,
        printed_lines=("done",),
    )


@pytest.mark.parametrize(
    ("fault", "failure_count", "restarted"),
    [("fail", 1, 0), ("fail", 3, 2), ("cancel", 3, 0)],
)
def test_operations_that_fail_beyond_those_of_the_clean_run_were_started_again(
    fault: str, failure_count: int, restarted: int
) -> None:
    clean = sample_clean_run(sample_observation(requests=requests("apply_project_domains")))
    failures = Counter({"apply_project_domains of shop failed": failure_count})
    observation = sample_observation(hit=True, failed_operations=failures)

    result = result_of(f"apply_project_domains#1/{fault}/lasting", observation, clean, ())

    assert result.restarted_operations == restarted


def test_a_client_that_says_something_else_may_know_that_there_are_more_pages() -> None:
    clean = clean_run_that_lists(WHOLE_LIST)

    assert result_of("vary/1", FIRST_PAGE, clean, ("done", "more pages: yes")).stopped_at_page == ""


@pytest.mark.parametrize(
    ("change", "line", "request_text"),
    [("reorder:/items", "latest: A", "GET /a"), ("remove:/next_cursor", "", "")],
)
def test_a_run_with_a_reversed_list_omits_a_line_and_a_request(
    change: str, line: str, request_text: str
) -> None:
    usual = replace(listing("abc", None, items=(("A", "B"), ("C",))), sent=("GET /a", "GET /b"))
    ends = (RunEnd(0, printed_lines=("A B", "latest: A")), usual)
    clean = CleanRun.of_two_runs(state(), ends, ends)
    altered = replace(usual, sent=("GET /b",))

    result = result_of(f"alter/list_deployments/2xx/{change}", altered, clean, ("B A", "latest: B"))

    assert (result.omitted_line, result.omitted_request) == (line, request_text)


@pytest.mark.parametrize(
    ("lines", "misses_items"), [(("done", "got 2, want 3"), True), (("done", "got 2"), False)]
)
def test_a_client_that_prints_the_size_of_the_whole_list_misses_items(
    lines: tuple[str, ...], misses_items: bool
) -> None:
    usual = listing("abc", None, items=(("A", "B"), ("C",)))
    deployments = Counter({"shop ready": 2, "shop failed": 1, "blog ready": 1})
    clean = clean_run_that_lists(replace(usual, state={**usual.state, "deployment": deployments}))
    first_page = listing("abc", items=(("A", "B"),))

    assert result_of("vary/1", first_page, clean, lines).misses_items == misses_items


@pytest.mark.parametrize(("replays", "additional_replays"), [(0, 0), (1, 0), (3, 2)])
def test_replays_that_the_clean_run_asks_for_as_well_are_not_additional(
    replays: int, additional_replays: int
) -> None:
    replay = exchange("create_user_api_key", 200, replayed=True)
    observation = sample_observation(requests=number_requests([replay] * replays), hit=True)
    clean = sample_clean_run(sample_observation(requests=number_requests([replay]), hit=True))

    result = result_of(
        "create_user_api_key#1/rate_limit/before_commit", observation, clean, ("done",)
    )

    assert (result.additional_replays, result.is_refused_anyway) == (additional_replays, False)
