"""A judgment: what it runs, what counts, and when nothing is proven."""

from __future__ import annotations

import threading
import time

import pytest
from msgspec.structs import replace

from hosting_emulator.sdk import ControlError
from hosting_emulator_lab.judge.cause_texts import CauseText
from hosting_emulator_lab.judge.causes import Symptom
from hosting_emulator_lab.judge.clean_runs import INTERFERENCE, ScaledRunFailed
from hosting_emulator_lab.judge.client_judge import SEEDS
from hosting_emulator_lab.judge.run_results import CleanRunFailed, RunEnd
from hosting_emulator_lab.judge.trial_plan import plan_trials
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import CleanTrial, Trial, VariedTrial
from hosting_emulator_lab.run_conditions import RunsStopped
from tests.lab.judge.judging import PATIENCE_S, RESET, Progress, fails_at, hangs_at, judge
from tests.lab.judge.planned_runs import CALLS, PlannedRuns
from tests.lab.judge.samples import requests
from tests.lab.judge.test_causes import finding


def doubles_after_lost_response(trial: Trial, alone: bool) -> TrialResult | None:
    """Make a change twice where the response to the change is lost."""
    if str(trial).endswith("/connection_reset/after_commit"):
        return TrialResult(trial, "doubled", ("2 keys",), 0, 0.5)
    return None


def test_a_client_that_survives_everything_survives() -> None:
    judgment = judge(PlannedRuns())
    assert (judgment.exit_code, judgment.headline) == (0, "survived")
    assert (judgment.tried, judgment.not_tried) == (judgment.planned, [])
    assert judgment.causes == []


def test_a_judgment_begins_with_three_clean_runs() -> None:
    runs = PlannedRuns()
    judge(runs)
    clean_runs = [text for text in runs.log if text.startswith("clean")]
    assert clean_runs[0] == "clean alone"
    assert sorted(clean_runs[1:]) == ["clean/base-path", "clean/scaled"]


def test_a_lost_response_is_tried_right_after_the_first_clean_run() -> None:
    runs = PlannedRuns()
    judge(runs)
    opening = runs.log[1].removesuffix(" alone")
    assert opening.endswith("/connection_reset/after_commit")
    assert runs.log.count(opening) == 0


def test_a_long_command_is_not_held_up_by_a_trial_between_its_clean_runs() -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        return RunEnd(0, duration_s=40.0, printed_lines=("done",))

    runs = PlannedRuns(clean_ends=ends)
    judge(runs)
    assert runs.log[1].startswith("clean/")


def test_causes_are_told_as_soon_as_a_run_shows_them() -> None:
    runs = PlannedRuns(doubles_after_lost_response, findings={"clean": [finding("secret-in-url")]})
    other_clean_runs: list[int] = []

    class Told(Progress):
        def on_cause(self, text: CauseText, symptom: Symptom) -> None:
            super().on_cause(text, symptom)
            other_clean_runs.append(sum("clean/" in run for run in runs.log))

    progress = Told()
    judgment = judge(runs, progress)
    assert progress.causes == ["secret-in-url", "done-twice"]
    assert other_clean_runs == [0, 0]
    assert {cause.id for cause in judgment.causes} == {"secret-in-url", "done-twice"}


@pytest.mark.parametrize("has_keys", [True, False])
def test_a_judgment_that_is_interrupted_after_its_first_run_reports_what_it_showed(
    has_keys: bool,
) -> None:
    reasons: list[str] = []

    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        if trial.kind != "skip":
            reasons.append("interrupted")
            raise RunsStopped
        return RunEnd(0, duration_s=0.5, printed_lines=("done",))

    runs = PlannedRuns(doubles_after_lost_response, ends, has_keys=has_keys)
    judgment = judge(runs, stop_reason=lambda: " ".join(reasons[:1]))
    assert [cause.id for cause in judgment.causes] == ["done-twice"]
    assert judgment.tried == 1
    assert judgment.exit_code == 1


def test_an_expired_token_and_varied_responses_are_always_tried() -> None:
    runs = PlannedRuns()
    judge(runs)
    assert any("/token_expired/" in text for text in runs.log)
    assert "vary/1" in runs.log


def test_a_hang_right_after_the_first_clean_run_is_tried_again_if_the_machine_is_busy() -> None:
    opening = "apply_project_domains#1/connection_reset/after_commit"
    progress = Progress()
    runs = PlannedRuns(hangs_at(opening), is_slow=lambda: True)

    judgment = judge(runs, progress)

    assert runs.log[1:3] == [f"{opening} alone", "clean again"]
    assert opening in runs.log
    assert (judgment.causes, progress.causes) == ([], [])


def test_trials_may_take_little_longer_than_the_budget() -> None:
    runs = PlannedRuns()
    before = time.monotonic()
    judge(runs, budget_s=60.0)
    assert runs.trials_end_at is not None
    assert before + 80.0 <= runs.trials_end_at <= time.monotonic() + 80.0


def test_a_broken_rule_of_a_trial_is_a_cause() -> None:
    results = fails_at(RESET, findings=(finding("new-key-after-uncertainty"),))
    judgment = judge(PlannedRuns(results))
    assert [cause.id for cause in judgment.causes] == ["new-key-after-uncertainty"]


def test_a_broken_rule_of_a_clean_run_is_a_cause() -> None:
    runs = PlannedRuns(findings={"clean": [finding("secret-in-url")]})
    judgment = judge(runs)
    assert [cause.id for cause in judgment.causes] == ["secret-in-url"]


def test_a_command_that_prints_its_token_gets_a_warning_once() -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        return RunEnd(0, duration_s=0.5, printed_lines=("done",), prints_token=True)

    [cause] = judge(PlannedRuns(clean_ends=ends)).causes
    assert (cause.id, cause.severity, len(cause.symptoms)) == ("prints-token", "warning", 1)


@pytest.mark.parametrize("kind", ["clean/base-path", "clean/scaled"])
def test_a_rule_that_a_clean_run_breaks_only_beside_another_run_is_no_cause(kind: str) -> None:
    runs = PlannedRuns(findings={kind: [finding("polled-too-early")], f"{kind} alone": []})
    judgment = judge(runs, jobs=4)
    assert f"{kind} alone" in runs.log
    assert judgment.causes == []


ACCEPTED = f"accept/{CALLS[1]}#1"
REUSED = "key-reused-for-another-request"


def test_a_refusal_that_a_clean_run_expects_is_only_a_note() -> None:
    """The command fails if the request is accepted, as a test of the refusal does."""

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) == ACCEPTED:
            return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)
        return None

    runs = PlannedRuns(results, findings={"clean": [finding(REUSED)]}, refused=[2])
    progress = Progress()
    judgment = judge(runs, progress)
    [cause] = judgment.causes
    assert (cause.id, cause.severity, judgment.exit_code) == (REUSED, "note", 0)
    assert progress.causes == []
    assert cause.symptoms[0].message == (
        "requests #1, #2: it did so The service refuses this request, and the command may be testing the "
        "refusal."
    )
    assert f"{ACCEPTED} alone" in runs.log


def test_a_refusal_that_a_clean_run_does_not_notice_is_a_mistake() -> None:
    runs = PlannedRuns(findings={"clean": [finding(REUSED)]}, refused=[2])
    judgment = judge(runs)
    [cause] = judgment.causes
    assert (cause.id, cause.severity, judgment.exit_code) == (REUSED, "error", 1)


def test_a_refusal_is_only_a_note_if_no_run_could_accept_the_request() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) == ACCEPTED:
            return TrialResult(trial, "not reached", (), 0, 0.5, hit=False)
        return None

    runs = PlannedRuns(results, findings={"clean": [finding(REUSED)]}, refused=[2])
    assert [cause.severity for cause in judge(runs).causes] == ["note"]


def test_a_rule_is_a_mistake_if_one_of_its_requests_is_not_refused() -> None:
    """A suite may test a refusal, and make the same mistake elsewhere."""
    elsewhere = replace(finding(REUSED), requests=[1])

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) == ACCEPTED:
            return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)
        return None

    runs = PlannedRuns(results, findings={"clean": [finding(REUSED), elsewhere]}, refused=[2])
    [cause] = judge(runs).causes
    assert (cause.severity, len(cause.symptoms)) == ("error", 1)


def test_an_expected_refusal_explains_no_other_cause() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) == ACCEPTED or str(trial).endswith("/connection_reset/after_commit"):
            return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)
        return None

    runs = PlannedRuns(results, findings={"clean": [finding(REUSED)]}, refused=[2])
    found = [(cause.id, cause.severity) for cause in judge(runs).causes]
    assert found == [("gives-up-at-passing-failure", "warning"), (REUSED, "note")]


def test_a_serious_finding_counts_even_if_an_earlier_run_has_only_a_note() -> None:
    findings = {
        "clean": [finding("polled-too-early", "note")],
        "clean/scaled": [finding("polled-too-early", "warning")],
    }
    [cause] = judge(PlannedRuns(findings=findings)).causes
    assert (cause.severity, cause.symptoms[0].trial) == ("warning", "clean/scaled")


def test_early_polling_that_only_the_fast_clock_shows_is_looked_for_alone() -> None:
    runs = PlannedRuns(findings={"clean/scaled": [finding("polled-too-early", "warning")]})
    judgment = judge(runs, jobs=2)
    assert "clean/scaled alone" in runs.log
    assert [cause.id for cause in judgment.causes] == ["polled-too-early"]


def test_a_request_that_misses_the_base_path_is_a_cause() -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        return RunEnd(1 if trial.kind == "base-path" else 0, duration_s=0.5)

    judgment = judge(PlannedRuns(clean_ends=ends, missed=3))
    [cause] = judgment.causes
    assert cause.id == "drops-base-path"
    assert cause.symptoms[0].message == (
        "the base URL was http://127.0.0.1:1/worlds/run-2, and 3 of its requests missed the path"
    )


def test_clean_runs_that_disturb_each_other_are_made_one_after_the_other() -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        is_disturbed = trial.kind == "base-path" and not alone
        return RunEnd(1 if is_disturbed else 0, duration_s=0.5)

    thread_ids: set[int] = set()

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if not alone:
            thread_ids.add(threading.get_ident())
        return None

    judgment = judge(PlannedRuns(results, ends), jobs=4)
    assert len(thread_ids) <= 2, "all points in one thread, and then all alterations in another"
    assert judgment.remarks == [INTERFERENCE]
    assert judgment.exit_code == 0


def test_a_client_that_fails_on_a_good_day_is_not_judged() -> None:
    with pytest.raises(CleanRunFailed, match="ended with 3"):
        judge(PlannedRuns(clean_ends=lambda trial, alone: RunEnd(3)))


def test_a_client_that_does_not_end_is_not_judged() -> None:
    with pytest.raises(CleanRunFailed, match="did not end within 60 s"):
        judge(PlannedRuns(clean_ends=lambda trial, alone: RunEnd(143, hung=True)))


def test_a_client_that_fails_under_a_fast_clock_is_not_judged() -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        return RunEnd(1 if trial.kind == "scaled" else 0, duration_s=0.5)

    with pytest.raises(ScaledRunFailed, match="ended with 1"):
        judge(PlannedRuns(clean_ends=ends))


def test_a_client_that_sends_nothing_could_not_be_judged() -> None:
    judgment = judge(PlannedRuns(calls=()))
    assert judgment.exit_code == 2
    assert judgment.unproven == [
        "The command sends no request to the emulator. Does it use HOSTING_BASE_URL and "
        "HOSTING_TOKEN?"
    ]


def test_a_client_without_a_valid_token_could_not_be_judged() -> None:
    judgment = judge(PlannedRuns(calls=(), unauthenticated=2))
    assert judgment.exit_code == 2
    assert judgment.unproven == [
        "None of the command's requests has a valid token or API key, such as HOSTING_TOKEN."
    ]


def test_a_judgment_that_is_stopped_before_its_first_run_ends_has_no_result() -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        raise RunsStopped

    with pytest.raises(RunsStopped):
        judge(PlannedRuns(clean_ends=ends))


@pytest.mark.parametrize("error", [ControlError("refused"), RunsStopped()])
def test_an_alteration_that_could_not_be_made_counts_as_not_tried(error: Exception) -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) == "alter/create_user_api_key/2xx/status":
            raise error
        return None

    judgment = judge(PlannedRuns(results))

    assert (judgment.exit_code, judgment.headline) == (0, "survived")
    assert [str(trial) for trial in judgment.dependencies.not_tried] == [
        "alter/create_user_api_key/2xx/status"
    ]
    assert len(judgment.dependencies.effects) == 2


def test_a_budget_that_is_used_up_proves_nothing() -> None:
    runs = PlannedRuns()
    judgment = judge(runs, budget_s=0.0)
    assert (judgment.exit_code, judgment.tried) == (2, 0)
    assert len(judgment.not_tried) == judgment.planned
    required = plan_trials(requests(*CALLS), SEEDS).required
    assert judgment.unproven == [
        f"There was no time for {len(required)} pairs of a call and a kind of failure.",
        "No run had an expired token.",
        "No run had varied responses.",
    ]


@pytest.mark.parametrize(("jobs", "seconds_per_trial"), [(1, 0.5), (2, 0.25)])
def test_the_suggested_budget_is_enough_for_trials_as_long_as_the_clean_run(
    jobs: int, seconds_per_trial: float
) -> None:
    judgment = judge(PlannedRuns(), budget_s=0.0, jobs=jobs)
    enough_s = judgment.planned * seconds_per_trial * 1.25
    assert enough_s <= judgment.needed_s < enough_s + 20
    assert judgment.needed_s % 10 == 0


def test_a_budget_that_was_enough_is_suggested_again() -> None:
    assert judge(PlannedRuns(), budget_s=59.5).needed_s == 60


def test_a_judgment_describes_the_clean_run_and_counts_all_runs() -> None:
    runs = PlannedRuns()
    judgment = judge(runs)
    assert (judgment.command, judgment.request_count, judgment.clean_s) == ("client", 3, 0.5)
    assert judgment.run_count == len(runs.log)
    assert 0 < judgment.duration_s < PATIENCE_S


def test_a_cause_counts_even_if_the_budget_was_too_small() -> None:
    runs = PlannedRuns(findings={"clean": [finding("secret-in-url")]})
    assert judge(runs, budget_s=0.0).exit_code == 1


def test_an_interrupted_judgment_reports_what_there_is() -> None:
    judgment = judge(PlannedRuns(), stop_reason=lambda: "interrupted")
    assert judgment.exit_code == 2
    assert judgment.remarks == ["The judgment ended early: interrupted."]


def test_runs_that_are_stopped_in_the_middle_are_not_tried() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        raise RunsStopped

    judgment = judge(PlannedRuns(results))
    assert judgment.tried == 0


@pytest.mark.parametrize(("cpu_s", "most"), [(0.5, 2), (0.125, 8), (0.0, 16)])
def test_no_more_trials_are_made_at_once_than_the_processors_can_serve(
    cpu_s: float, most: int
) -> None:
    running: list[Trial] = []
    counts: list[int] = []
    lock = threading.Lock()
    enough = threading.Event()

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if alone:
            return None
        with lock:
            running.append(trial)
            counts.append(len(running))
            if len(running) >= most:
                enough.set()
        # Every trial waits until as many as may be are running at the same time.
        enough.wait(PATIENCE_S)
        with lock:
            running.remove(trial)
        return None

    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        return RunEnd(0, duration_s=0.5, cpu_s=cpu_s)

    judge(PlannedRuns(results, ends), jobs=16, processors=2)
    assert max(counts) == most


@pytest.mark.parametrize(("severity", "exit_code"), [("warning", 1), ("error", 0), ("note", 1)])
def test_the_chosen_severity_decides_which_causes_count(severity: str, exit_code: int) -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) != RESET:
            return None
        return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5)

    judgment = judge(PlannedRuns(results), severity=severity)
    assert judgment.exit_code == exit_code
    assert len(judgment.causes) == 1


def test_the_points_of_a_varied_failure_are_narrowed_down() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if not isinstance(trial, VariedTrial) or trial.seed != "1":
            return None
        points = trial.conditions.vary_only
        if "unknown-phase" not in points:
            return None
        return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5, varied=points)

    judgment = judge(PlannedRuns(results))
    [cause] = judgment.causes
    assert cause.id == "rejects-unknown-value"
    assert {symptom.trial for symptom in cause.symptoms} == {"vary/1/unknown-phase"}


def test_one_varied_failure_does_not_hide_another() -> None:
    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if not isinstance(trial, VariedTrial):
            return None
        points = trial.conditions.vary_only
        if not {"unknown-phase", "timestamp-form"} & set(points):
            return None
        return TrialResult(trial, "failed", ("exit code 1",), 1, 0.5, varied=points)

    judgment = judge(PlannedRuns(results))
    assert {cause.id for cause in judgment.causes} == {
        "rejects-unknown-value",
        "expects-timestamp-form",
    }


def test_the_progress_counts_every_trial() -> None:
    progress = Progress()
    judgment = judge(PlannedRuns(), progress, jobs=3)
    assert progress.planned_count == judgment.planned
    assert sorted(progress.tried_counts) == list(range(1, judgment.planned + 1))
