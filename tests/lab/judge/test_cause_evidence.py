"""A cause counts if a trial shows it again alone, on a machine that is not busy."""

from __future__ import annotations

import threading

import pytest

from hosting_emulator_lab.judge.run_results import Verdict
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import FaultTrial, Trial
from hosting_emulator_lab.run_conditions import RunsStopped
from tests.lab.judge.judging import PATIENCE_S, RESET, Progress, fails_at, hangs_at, judge
from tests.lab.judge.planned_runs import CALLS, PlannedRuns
from tests.lab.judge.test_causes import finding


def test_trials_that_show_the_same_at_the_same_time_are_repeated_once() -> None:
    both_run = threading.Barrier(2, timeout=PATIENCE_S)

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if not isinstance(trial, FaultTrial) or trial.point.fault != "timeout":
            return None
        if not alone and trial.point.call in CALLS[:2]:
            both_run.wait()
        return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)

    runs = PlannedRuns(results)
    judge(runs, jobs=8)
    assert len([text for text in runs.log if "timeout" in text and "alone" in text]) == 1


def test_the_progress_names_the_better_cause_if_a_run_shows_two() -> None:
    results = fails_at(RESET, findings=(finding("new-key-after-uncertainty"),))
    progress = Progress()

    judge(PlannedRuns(results), progress)

    assert progress.causes == ["new-key-after-uncertainty"]


def test_the_progress_does_not_name_a_cause_that_an_earlier_one_explains() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if not str(trial).startswith("create_user_api_key#1/"):
            return None
        if "/timeout/" in str(trial) or "/stalled_response/" in str(trial):
            return TrialResult(trial, "hung", ("it did not end",), 1, 10.0)
        return None

    progress = Progress()

    judgment = judge(PlannedRuns(results), progress)

    assert [cause.id for cause in judgment.causes] == ["waits-without-limit"]
    assert progress.causes == ["waits-without-limit"]


STUCK = "apply_project_domains#1/stick/lasting"


STILL_POLLING = "it was still polling after 55 s and 53 requests, while the clean run sends 3"


@pytest.mark.parametrize(
    ("verdict", "remarks"),
    [
        (
            "waits",
            [
                "Not decided: whether the command ever stops waiting for an operation that never "
                f"ends. In {STUCK}, {STILL_POLLING}. It needs a deadline, which may be longer than "
                "that. To see one, repeat this trial with a longer --limit."
            ],
        ),
        ("gave up", []),
    ],
)
def test_a_judgment_says_if_no_trial_shows_whether_a_client_ever_stops_waiting(
    verdict: Verdict, remarks: list[str]
) -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) != STUCK:
            return None
        reasons = ("apply_project_domains#1 starts an operation that never ends", STILL_POLLING)
        return TrialResult(trial, verdict, reasons, 1, 55.0)

    judgment = judge(PlannedRuns(results))

    assert (judgment.exit_code, judgment.causes) == (0, [])
    assert judgment.remarks == remarks


def test_a_failure_is_a_cause_if_the_trial_shows_it_again_alone() -> None:
    runs = PlannedRuns(fails_at(RESET))
    progress = Progress()
    judgment = judge(runs, progress)
    assert f"{RESET} alone" in runs.log
    assert [cause.id for cause in judgment.causes] == ["done-twice"]
    assert progress.causes == ["done-twice"]
    assert judgment.exit_code == 1


def test_a_failure_that_the_trial_does_not_show_alone_is_not_counted() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        return None if alone else fails_at(RESET)(trial, alone)

    progress = Progress()
    judgment = judge(PlannedRuns(results), progress)
    assert judgment.causes == []
    assert progress.causes == []
    assert judgment.exit_code == 0
    [remark] = judgment.remarks
    assert f"1 cause, such as done-twice in {RESET}" in remark


def test_a_note_about_a_failure_that_the_trial_does_not_show_alone_is_not_counted() -> None:
    malformed = "create_user_api_key#1/malformed_response/after_commit"

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if alone or str(trial) != malformed:
            return None
        return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)

    judgment = judge(PlannedRuns(results))

    assert judgment.causes == []
    assert "gives-up-at-unreadable-response" in judgment.remarks[0]


def test_a_failure_whose_repetition_is_stopped_is_only_a_note() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if not str(trial).endswith("/timeout/before_commit"):
            return None
        if alone:
            raise RunsStopped
        return TrialResult(trial, "hung", ("it did not end",), 1, 10.0)

    judgment = judge(PlannedRuns(results))
    causes = [(cause.id, cause.severity) for cause in judgment.causes]
    assert causes == [("waits-without-limit", "note")]


LIMITED = "create_user_api_key#1/rate_limit/before_commit"


def test_a_client_that_hangs_on_a_busy_machine_is_not_accused() -> None:
    progress = Progress()
    runs = PlannedRuns(hangs_at(LIMITED), is_slow=lambda: True)

    judgment = judge(runs, progress)

    assert (judgment.causes, judgment.exit_code, progress.causes) == ([], 0, [])
    [remark] = judgment.remarks
    assert remark.startswith(
        "Not counted, because the machine was busy: 1 cause, such as hangs in "
    )
    repetition = runs.log.index(f"{LIMITED} alone")
    assert runs.log[repetition + 1] == "clean again"


def test_a_client_that_hangs_is_accused_if_the_machine_is_not_busy() -> None:
    progress = Progress()
    runs = PlannedRuns(hangs_at(LIMITED))

    judgment = judge(runs, progress)

    assert [cause.id for cause in judgment.causes] == progress.causes == ["hangs"]
    assert (judgment.remarks, judgment.exit_code) == ([], 1)


def test_a_client_that_hangs_again_when_the_machine_is_idle_is_accused() -> None:
    later = "apply_project_domains#1/rate_limit/before_commit"
    slow_or_not = [True, False]
    runs = PlannedRuns(hangs_at(LIMITED, later), is_slow=lambda: slow_or_not.pop(0))

    judgment = judge(runs)

    assert [cause.id for cause in judgment.causes] == ["hangs"]
    assert judgment.remarks == []


def test_the_machine_is_looked_at_once_for_a_cause_that_counts() -> None:
    calls = ("create_user_api_key", "apply_project_domains")
    runs = PlannedRuns(hangs_at(*(f"{call}#1/rate_limit/before_commit" for call in calls)))

    judge(runs)

    assert runs.log.count("clean again") == 1


def test_only_hanging_depends_on_the_machine() -> None:
    """Broken rules of conduct in a run that hangs on a busy machine still count."""
    broken = finding("secret-in-url")
    runs = PlannedRuns(hangs_at(LIMITED, findings=(broken,)), is_slow=lambda: True)
    assert [cause.id for cause in judge(runs).causes] == ["secret-in-url"]

    failing = PlannedRuns(fails_at(RESET), is_slow=lambda: True)
    assert [cause.id for cause in judge(failing).causes] == ["done-twice"]
    assert "clean again" not in failing.log


def test_a_hang_is_only_a_note_if_the_look_at_the_machine_is_stopped() -> None:
    def stop() -> bool:
        raise RunsStopped

    judgment = judge(PlannedRuns(hangs_at(LIMITED), is_slow=stop))

    assert [(cause.id, cause.severity) for cause in judgment.causes] == [("hangs", "note")]


def test_a_cause_is_looked_for_alone_at_most_three_times() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if alone or not isinstance(trial, FaultTrial) or trial.point.lasting is not None:
            return None
        return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)

    runs = PlannedRuns(results)
    judgment = judge(runs)
    repeated = [text for text in runs.log[1:] if text.endswith(" alone") and "clean" not in text]
    assert not any(cause.id.startswith("gives-up-at-p") for cause in judgment.causes)
    assert len([text for text in repeated if "malformed" not in text]) == 3 + 1


def test_a_cause_that_was_seen_alone_is_not_looked_for_alone_again() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if isinstance(trial, FaultTrial) and trial.point.fault == "connection_reset":
            return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)
        return None

    runs = PlannedRuns(results)
    judgment = judge(runs)
    assert len(judgment.causes[0].symptoms) > 1
    assert len([text for text in runs.log if "connection_reset" in text and "alone" in text]) == 1


def test_a_cause_that_a_clean_run_shows_counts_even_if_no_trial_shows_it_alone() -> None:
    broken = finding("secret-in-url")

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if alone or str(trial) != RESET:
            return None
        return TrialResult(trial, "survived", (), 0, 0.5, findings=(broken,))

    judgment = judge(PlannedRuns(results, findings={"clean": [broken]}))
    [cause] = judgment.causes
    assert (cause.severity, cause.seen_alone) == ("error", True)
