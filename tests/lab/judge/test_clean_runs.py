"""The clean runs of a judgment: which runs are made, and when the client cannot be judged."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.judge.clean_runs import (
    INTERFERENCE,
    CleanRuns,
    ScaledRunFailed,
    make_clean_runs,
    try_clean_run,
)
from hosting_emulator_lab.judge.run_results import CleanRunFailed, RunEnd
from hosting_emulator_lab.judge.trials import CleanTrial
from tests.lab.judge.planned_runs import PlannedRuns
from tests.lab.judge.samples import sample_clean_run, state
from tests.lab.judge.test_causes import finding

WARNING = [finding("polled-too-early", "warning")]
NOTE = [finding("polled-too-early", "note")]
ALL_RUNS = ["clean alone", "clean/base-path", "clean/scaled"]


def planned_runs(*failures: str, **options: Any) -> PlannedRuns:
    """Return runs that fail if their text is among `failures`. The others succeed."""

    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        text = f"{trial} alone" if alone else str(trial)
        return RunEnd(3 if text in failures else 0, duration_s=0.5, output=("bye",))

    return PlannedRuns(clean_ends=ends, **options)


@pytest.mark.parametrize(
    ("runs", "jobs", "more_runs", "disturb"),
    [
        (planned_runs(), 1, [], False),
        (planned_runs("clean/base-path", missed=3), 1, ["clean alone"], False),
        (planned_runs("clean/base-path"), 1, ["clean/base-path alone"], True),
        (planned_runs("clean/scaled"), 1, ["clean/scaled alone"], True),
        (planned_runs(findings={"clean/base-path": WARNING}), 1, [], False),
        (planned_runs(findings={"clean/scaled": WARNING}), 1, [], False),
        (
            planned_runs(findings={"clean/base-path": WARNING}),
            2,
            ["clean/base-path alone"],
            False,
        ),
        (planned_runs(findings={"clean/scaled": WARNING}), 2, ["clean/scaled alone"], False),
        (planned_runs(findings={"clean/scaled": NOTE}), 2, [], False),
        (planned_runs(findings={"clean": WARNING, "clean/scaled": WARNING}), 2, [], False),
    ],
    ids=[
        "all succeed",
        "the path is missed",
        "disturbed with a path",
        "disturbed by time",
        "a rule is broken in the second of sequential runs",
        "a rule is broken in the third of sequential runs",
        "a rule is broken with a path",
        "a rule is broken in running time",
        "a note",
        "a rule that the first run breaks",
    ],
)
def test_a_run_is_repeated_alone_if_another_may_have_disturbed_it(
    runs: PlannedRuns, jobs: int, more_runs: list[str], disturb: bool
) -> None:
    clean_runs = make_clean_runs(runs, limit_s=60.0, jobs=jobs)

    assert runs.log[0] == "clean alone"
    assert sorted(runs.log) == sorted([*ALL_RUNS, *more_runs])
    assert clean_runs.disturb_each_other is disturb


@pytest.mark.parametrize(
    ("failures", "findings", "error", "is_second"),
    [
        (["clean alone"], {}, CleanRunFailed, False),
        (["clean/scaled", "clean/scaled alone"], {}, ScaledRunFailed, None),
        (["clean/scaled alone"], {"clean/scaled": WARNING}, ScaledRunFailed, None),
    ],
    ids=["first", "in running time", "only alone"],
)
def test_a_client_that_fails_alone_without_a_failure_is_not_judged(
    failures: list[str],
    findings: Any,
    error: type[CleanRunFailed | ScaledRunFailed],
    is_second: bool | None,
) -> None:
    runs = planned_runs(*failures, findings=findings)

    with pytest.raises(error, match=r"^ended with 3$") as failure:
        make_clean_runs(runs, limit_s=60.0, jobs=2)

    assert isinstance(failure.value, CleanRunFailed | ScaledRunFailed)
    assert failure.value.end.output == ("bye",)
    if isinstance(failure.value, CleanRunFailed):
        assert failure.value.is_second is is_second


@pytest.mark.parametrize(
    ("failures", "findings"),
    [
        (["clean/base-path", "clean/base-path alone"], {}),
        (["clean/base-path alone"], {"clean/base-path": WARNING}),
    ],
    ids=["beside others and alone", "only alone"],
)
def test_a_client_that_fails_only_with_a_path_is_judged_without_one(
    failures: list[str], findings: Any
) -> None:
    runs = planned_runs(*failures, findings=findings)

    clean_runs = make_clean_runs(runs, limit_s=60.0, jobs=2)

    [(text, symptom)] = clean_runs.symptoms
    assert (text.id, text.severity) == ("needs-plain-base-url", "note")
    assert symptom.message == "the base URL was http://127.0.0.1:1/worlds/run-2: exit code 3"
    assert (symptom.trial, symptom.output) == ("clean/base-path", ("bye",))
    assert runs.log[-2:] == ["clean/base-path alone", "clean alone"]
    assert not clean_runs.disturb_each_other


def test_a_client_that_succeeds_only_once_is_not_judged() -> None:
    """The client also fails when it runs again without a path."""
    kinds: list[str] = []

    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        kinds.append(trial.kind)
        return RunEnd(3 if len(kinds) > 1 else 0)

    with pytest.raises(CleanRunFailed, match=r"^ended with 3$") as failure:
        make_clean_runs(PlannedRuns(clean_ends=ends), limit_s=60.0, jobs=1)

    assert failure.value.is_second
    assert kinds == ["skip", "base-path", "scaled", "base-path", "skip"]


@pytest.mark.parametrize(("kind", "error"), [("skip", CleanRunFailed), ("scaled", ScaledRunFailed)])
def test_a_client_that_does_not_end_is_not_judged(kind: str, error: type[Exception]) -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        return RunEnd(143, hung=True) if trial.kind == kind else RunEnd(0)

    with pytest.raises(error, match=r"^did not end within 60.5 s$"):
        make_clean_runs(PlannedRuns(clean_ends=ends), limit_s=60.5, jobs=1)


def runs_that_fail(*quick_failures: bool, fails_slowly: bool = False) -> PlannedRuns:
    """Return runs of which the first ones fail as given if operations end at the first poll.

    If operations are polled in each of their phases, the runs fail if `fails_slowly` is true.
    """
    failures = iter(quick_failures)

    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        fails = fails_slowly
        if not runs.shows_all_phases:
            fails = next(failures, False)
        return RunEnd(1 if fails else 0, duration_s=0.5, output=("bye",))

    runs = PlannedRuns(clean_ends=ends)
    return runs


def test_a_client_that_needs_operations_to_last_is_judged_with_operations_that_do() -> None:
    runs = runs_that_fail(True, True)

    clean_runs = make_clean_runs(runs, limit_s=60.0, jobs=1)

    [(text, symptom)] = clean_runs.symptoms
    assert (text.id, symptom.trial, symptom.output) == ("expects-certain-states", "clean", ("bye",))
    assert symptom.message == "exit code 1 if operations end at the first poll, and 0 otherwise"
    assert runs.shows_all_phases
    assert runs.log == ["clean alone"] * 3 + ["clean/base-path", "clean/scaled"]


def test_a_first_run_that_failed_by_chance_shows_nothing() -> None:
    runs = runs_that_fail(True)

    clean_runs = make_clean_runs(runs, limit_s=60.0, jobs=1)

    assert clean_runs.symptoms == []
    assert not runs.shows_all_phases


def test_a_client_that_fails_however_long_its_operations_last_is_not_judged() -> None:
    runs = runs_that_fail(True, fails_slowly=True)

    with pytest.raises(CleanRunFailed, match=r"^ended with 1$"):
        make_clean_runs(runs, limit_s=60.0, jobs=1)

    assert runs.log == ["clean alone"] * 2


def test_a_client_without_operations_is_not_tried_with_longer_ones() -> None:
    runs = planned_runs("clean alone", calls=("create_user_api_key",))

    with pytest.raises(CleanRunFailed):
        make_clean_runs(runs, limit_s=60.0, jobs=1)

    assert runs.log == ["clean alone"]


def test_a_client_without_pauses_is_judged_although_its_run_in_running_time_is_stopped() -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        if trial.kind == "scaled":
            return RunEnd(143, hung=True, sent_too_much=True)
        return RunEnd(0)

    clean_runs = make_clean_runs(PlannedRuns(clean_ends=ends), limit_s=60.0, jobs=1)

    assert not clean_runs.disturb_each_other


def test_a_client_without_requests_has_one_clean_run() -> None:
    runs = planned_runs(calls=())

    clean_runs = make_clean_runs(runs, limit_s=60.0, jobs=1)

    assert (runs.log, clean_runs.symptoms, clean_runs.remarks) == (["clean alone"], [], [])


def test_the_first_run_is_reported_before_the_others_are_made() -> None:
    runs = planned_runs(findings={"clean": WARNING})
    reported: list[tuple[list[str], list[str]]] = []

    def on_first(first: CleanRuns) -> None:
        reported.append((list(runs.log), [text.id for text, _ in first.symptoms]))

    make_clean_runs(runs, limit_s=60.0, jobs=1, on_first=on_first)

    assert reported == [(["clean alone"], ["polled-too-early"])]


def test_the_remarks_name_interference_and_states_that_differ() -> None:
    clean = sample_clean_run(second_state=state())

    assert CleanRuns(clean, disturb_each_other=True).remarks == [
        INTERFERENCE,
        "Different in two clean runs, so not compared: API key.",
    ]


def test_a_repeated_clean_run_shows_whether_it_misses_the_path() -> None:
    runs = planned_runs("clean/base-path alone", missed=2)

    end, symptoms = try_clean_run(runs, CleanTrial("base-path"), limit_s=60.0)

    assert end.exit_code == 3
    [(text, symptom)] = symptoms
    assert (text.id, symptom.trial, symptom.output) == (
        "drops-base-path",
        "clean/base-path",
        ("bye",),
    )
    assert runs.log == ["clean/base-path alone"]


def test_a_repeated_clean_run_shows_whether_it_fails_with_a_path() -> None:
    runs = planned_runs("clean/base-path alone")

    _, symptoms = try_clean_run(runs, CleanTrial("base-path"), limit_s=60.0)

    assert [text.id for text, _ in symptoms] == ["needs-plain-base-url"]
