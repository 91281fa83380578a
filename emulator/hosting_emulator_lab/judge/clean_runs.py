"""The clean runs with which a judgment begins.

The first run is alone. Its clock skips, so that polling moves the time. Then follow, side by side, a
run with a base URL that has a path, and a run whose clock runs, so that early polling is visible.
If one of these fails and succeeds when it is alone, the runs disturb each other, as runs with a fixed
port, a build folder or a database do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, CauseText
from hosting_emulator_lab.judge.causes import Symptom
from hosting_emulator_lab.judge.clean_run_symptoms import (
    ExpectsRefusal,
    FinishedRun,
    clean_run_symptoms,
    expects_all_refusals,
)
from hosting_emulator_lab.judge.run_results import CleanRun, CleanRunFailed, RunEnd
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.judge.trials import CleanTrial
from hosting_emulator_lab.run_conditions import RunsStopped

#: The name of the world that a request reaches if it misses the path of its base URL.
_PATHLESS_WORLD = "default"
INTERFERENCE = (
    "Two clean runs at the same time disagreed, and one alone succeeded: the runs disturb each other, "
    "perhaps by a fixed port, a folder or a database. All further runs were made one after the other."
)


class ScaledRunFailed(Exception):
    """The clean run whose clock runs did not succeed, even alone."""

    def __init__(self, end: RunEnd, limit_s: float) -> None:
        message = f"ended with {end.exit_code}"
        if end.hung:
            message = f"did not end within {limit_s:g} s"
        super().__init__(message)
        self.end = end


@dataclass
class CleanRuns:
    """What the clean runs came to.

    `clean` is the run with which trials are compared. `symptoms` are the conduct findings of all clean
    runs, each rule once, with their causes. `disturb_each_other` tells whether runs cannot be made side
    by side.
    """

    clean: CleanRun
    symptoms: list[tuple[CauseText, Symptom]] = field(default_factory=list)
    disturb_each_other: bool = False

    @property
    def remarks(self) -> list[str]:
        """Sentences about the clean runs."""
        remarks = []
        if self.disturb_each_other:
            remarks.append(INTERFERENCE)
        if self.clean.varying_kinds:
            kinds = ", ".join(self.clean.varying_kinds)
            remarks.append(f"Different in two clean runs, so not compared: {kinds}.")
        return remarks


def make_clean_runs(
    runs: TrialRuns,
    *,
    limit_s: float,
    jobs: int,
    on_first: Callable[[CleanRuns], None] = lambda _: None,
) -> CleanRuns:
    """Make the clean runs, each for at most `limit_s` real seconds.

    `on_first` gets what the first run alone came to, before the others are made. It may make runs.
    Raises CleanRunFailed if the first run or its repetition does not succeed, ScaledRunFailed if the
    run whose clock runs does not succeed, and RunsStopped.
    """
    first, phase_symptoms = _make_first(runs, limit_s)
    _require_success(first, limit_s, is_second=False)
    if not first.visit.requests_by_world:
        return CleanRuns(_joined(first, first))
    symptoms = phase_symptoms + clean_run_symptoms([first], expects_all_refusals)
    on_first(CleanRuns(_joined(first, first), symptoms))
    trials = [CleanTrial("base-path"), CleanTrial("scaled")]
    second, scaled = _make_together(runs, trials, limit_s, jobs)
    disturb_each_other = False
    base_path_symptoms: list[tuple[CauseText, Symptom]] = []
    if _missed_base_path(second):
        base_path_symptoms.append(_drops_path_symptom(second))
        second = _make(runs, CleanTrial(), limit_s, alone=True)
    elif not second.succeeded or (jobs > 1 and _breaks_more_rules(second, first)):
        failed_beside_others = not second.succeeded
        # What a run shows counts only if it shows it alone.
        second = _make(runs, second.trial, limit_s, alone=True)
        disturb_each_other = failed_beside_others and second.succeeded
        if not second.succeeded:
            # The service's base URL may have no path, so judge the client without one.
            base_path_symptoms.append(_fails_with_path_symptom(second))
            second = _make(runs, CleanTrial(), limit_s, alone=True)
    _require_success(second, limit_s, is_second=True)
    # A client that polls without pauses is stopped before its operations end. Its conduct is seen.
    was_stopped = scaled.end.sent_too_much
    if not scaled.succeeded and not was_stopped:
        scaled = _make(runs, scaled.trial, limit_s, alone=True)
        if not scaled.succeeded:
            raise ScaledRunFailed(scaled.end, limit_s)
        disturb_each_other = True
    elif jobs > 1 and not was_stopped and _breaks_more_rules(scaled, first):
        # What a run shows counts only if it shows it alone.
        scaled = _make(runs, scaled.trial, limit_s, alone=True)
        if not scaled.succeeded:
            raise ScaledRunFailed(scaled.end, limit_s)
    clean = _joined(first, second)
    symptoms = clean_run_symptoms([first, second, scaled], _expects_refusal(runs, clean))
    return CleanRuns(clean, phase_symptoms + base_path_symptoms + symptoms, disturb_each_other)


def compare_clean_runs(runs: TrialRuns, *, limit_s: float | None) -> CleanRun:
    """Make the two clean runs with which a trial is compared, one after the other.

    Each run ends after `limit_s` real seconds if this is not None. Raises CleanRunFailed and
    RunsStopped.
    """
    first, _ = _make_first(runs, limit_s)
    _require_success(first, limit_s, is_second=False)
    second = _make(runs, CleanTrial(), limit_s, alone=True)
    _require_success(second, limit_s, is_second=True)
    return _joined(first, second)


def try_clean_run(
    runs: TrialRuns, trial: CleanTrial, *, limit_s: float
) -> tuple[RunEnd, list[tuple[CauseText, Symptom]]]:
    """Make one clean run. Return its end and its symptoms. Raises RunsStopped."""
    run = _make(runs, trial, limit_s, alone=True)
    symptoms = clean_run_symptoms([run], _expects_refusal(runs, _joined(run, run)))
    if trial.kind == "skip" and not run.succeeded:
        symptoms += _phase_symptoms(runs, run, limit_s)[1]
    if _missed_base_path(run):
        symptoms.append(_drops_path_symptom(run))
    elif run.trial.kind == "base-path" and not run.succeeded:
        symptoms.append(_fails_with_path_symptom(run))
    return run.end, symptoms


def _make(runs: TrialRuns, trial: CleanTrial, limit_s: float | None, *, alone: bool) -> FinishedRun:
    end, visit = runs.clean(trial, limit_s, alone=alone)
    return FinishedRun(trial, end, visit)


def _make_first(
    runs: TrialRuns, limit_s: float | None
) -> tuple[FinishedRun, list[tuple[CauseText, Symptom]]]:
    """Make the first clean run.

    If it fails because operations end at their first poll, they are polled in each of their phases in
    all further runs. Returns the run that succeeded and the symptoms of this mistake, if there are any,
    or else the run that failed. Raises RunsStopped.
    """
    run = _make(runs, CleanTrial(), limit_s, alone=True)
    if run.succeeded:
        return run, []
    return _phase_symptoms(runs, run, limit_s)


def _phase_symptoms(
    runs: TrialRuns, failed: FinishedRun, limit_s: float | None
) -> tuple[FinishedRun, list[tuple[CauseText, Symptom]]]:
    """Find out whether a clean run failed because operations ended at their first poll.

    Returns as `_make_first` does.
    """
    if failed.end.hung or not _begins_operation(failed):
        return failed, []
    runs.shows_all_phases = True
    longer = _make(runs, CleanTrial(), limit_s, alone=True)
    if longer.succeeded:
        runs.shows_all_phases = False
        second_run = _make(runs, CleanTrial(), limit_s, alone=True)
        if second_run.succeeded:
            # The first run failed for another reason, which has passed.
            return second_run, []
        runs.shows_all_phases = True
        message = (
            f"{_end_text(second_run.end)} if operations end at the first poll, and 0 otherwise"
        )
        symptom = Symptom(str(failed.trial), message, second_run.end.output)
        return longer, [(CAUSE_TEXTS["expects-certain-states"], symptom)]
    runs.shows_all_phases = False
    return failed, []


def _begins_operation(run: FinishedRun) -> bool:
    observation = run.visit.observation
    return observation is not None and any(
        request.begins_operation for request in observation.requests
    )


def _make_together(
    runs: TrialRuns, trials: Sequence[CleanTrial], limit_s: float, jobs: int
) -> list[FinishedRun]:
    with ThreadPoolExecutor(min(jobs, len(trials))) as pool:
        return list(pool.map(lambda trial: _make(runs, trial, limit_s, alone=False), trials))


def _require_success(run: FinishedRun, limit_s: float | None, *, is_second: bool) -> None:
    if not run.succeeded:
        raise CleanRunFailed(run.end, limit_s or 0, is_second=is_second)


def _missed_base_path(run: FinishedRun) -> bool:
    """Return whether a request of a run with a base path reached the world without a path."""
    return run.trial.kind == "base-path" and _PATHLESS_WORLD in run.visit.requests_by_world


def _expects_refusal(runs: TrialRuns, clean: CleanRun) -> ExpectsRefusal:
    """Return a function that finds out whether the client expects a refusal of its clean run."""

    def expects(trial: AcceptedTrial) -> bool:
        try:
            result = runs.trial(trial, clean, alone=True)
        except RunsStopped:
            # Without a run that accepts the request, nothing is proven against the client.
            return True
        # A run in which the request was not sent shows nothing.
        return not result.hit or result.verdict == "hung" or result.exit_code != 0

    return expects


def _breaks_more_rules(run: FinishedRun, first: FinishedRun) -> bool:
    """Return whether a run breaks a rule that the first run keeps. Notes do not count."""
    rules = {finding.rule for finding in first.visit.findings}
    return any(
        finding.rule not in rules and finding.severity != "note" for finding in run.visit.findings
    )


def _joined(first: FinishedRun, second: FinishedRun) -> CleanRun:
    assert first.visit.observation is not None
    assert second.visit.observation is not None
    return CleanRun.of_two_runs(
        first.visit.start,
        (first.end, first.visit.observation),
        (second.end, second.visit.observation),
    )


def _fails_with_path_symptom(run: FinishedRun) -> tuple[CauseText, Symptom]:
    message = f"the base URL was {run.visit.base_url}: {_end_text(run.end)}"
    return CAUSE_TEXTS["needs-plain-base-url"], Symptom(str(run.trial), message, run.end.output)


def _end_text(end: RunEnd) -> str:
    return "it did not end in time" if end.hung else f"exit code {end.exit_code}"


def _drops_path_symptom(run: FinishedRun) -> tuple[CauseText, Symptom]:
    request_count = run.visit.requests_by_world[_PATHLESS_WORLD]
    message = f"the base URL was {run.visit.base_url}, and {request_count} of its requests missed the path"
    return CAUSE_TEXTS["drops-base-path"], Symptom(str(run.trial), message, run.end.output)
