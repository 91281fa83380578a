"""The clean runs with which a judgment begins.

The first run is alone. Its clock skips, so that polling moves the time. Then follow, side by side, a
run with a base URL that has a path, and a run whose clock runs, so that early polling is visible.
If one of these fails and succeeds when it is alone, the runs disturb each other, as runs with a fixed
port, a build folder or a database do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, CauseText
from hosting_emulator_lab.judge.causes import Symptom, rule_cause
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.process_id_keys import process_id_key
from hosting_emulator_lab.judge.run_results import CleanRun, CleanRunFailed, RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.symptoms import finding_symptom
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.judge.trials import CleanTrial

#: The name of the world that a request reaches if it misses the path of its base URL.
_PATHLESS_WORLD = "default"
#: The rules whose violation the service refuses. A client that succeeds nevertheless may have expected
#: the refusal, as a test of refusals does.
_REFUSED_RULES = ("key-reused-for-another-request", "missing-idempotency-key")
_PRINTS_TOKEN = "prints-token"
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


@dataclass(frozen=True, slots=True)
class _FinishedRun:
    """A clean run that was made."""

    trial: CleanTrial
    end: RunEnd
    visit: RunVisit

    @property
    def succeeded(self) -> bool:
        return not self.end.hung and self.end.exit_code == 0

    @property
    def requests(self) -> tuple[NumberedRequest, ...]:
        assert self.visit.observation is not None
        return self.visit.observation.requests

    @property
    def missed_base_path(self) -> bool:
        """Whether a request of a run with a base path reached the world without a path."""
        return self.trial.kind == "base-path" and _PATHLESS_WORLD in self.visit.requests_by_world


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
    first = _make(runs, CleanTrial(), limit_s, alone=True)
    _require_success(first, limit_s, is_second=False)
    if not first.visit.requests_by_world:
        return CleanRuns(_joined(first, first))
    on_first(CleanRuns(_joined(first, first), _conduct_symptoms([first])))
    trials = [CleanTrial("base-path"), CleanTrial("scaled")]
    second, scaled = _make_together(runs, trials, limit_s, jobs)
    disturb_each_other = False
    symptoms: list[tuple[CauseText, Symptom]] = []
    if second.missed_base_path:
        symptoms.append(_base_path_symptom(second))
        second = _make(runs, CleanTrial(), limit_s, alone=True)
    elif not second.succeeded:
        second = _make(runs, second.trial, limit_s, alone=True)
        disturb_each_other = second.succeeded
    elif jobs > 1 and _breaks_more_rules(second, first):
        # What a run shows counts only if it shows it alone.
        second = _make(runs, second.trial, limit_s, alone=True)
    _require_success(second, limit_s, is_second=True)
    if not scaled.succeeded:
        scaled = _make(runs, scaled.trial, limit_s, alone=True)
        if not scaled.succeeded:
            raise ScaledRunFailed(scaled.end, limit_s)
        disturb_each_other = True
    elif jobs > 1 and _breaks_more_rules(scaled, first):
        # What a run shows counts only if it shows it alone.
        scaled = _make(runs, scaled.trial, limit_s, alone=True)
        if not scaled.succeeded:
            raise ScaledRunFailed(scaled.end, limit_s)
    symptoms += _conduct_symptoms([first, second, scaled])
    return CleanRuns(_joined(first, second), symptoms, disturb_each_other)


def compare_clean_runs(runs: TrialRuns, *, limit_s: float | None) -> CleanRun:
    """Make the two clean runs with which a trial is compared, one after the other.

    Each run ends after `limit_s` real seconds if this is not None. Raises CleanRunFailed and
    RunsStopped.
    """
    first = _make(runs, CleanTrial(), limit_s, alone=True)
    _require_success(first, limit_s, is_second=False)
    second = _make(runs, CleanTrial(), limit_s, alone=True)
    _require_success(second, limit_s, is_second=True)
    return _joined(first, second)


def try_clean_run(
    runs: TrialRuns, trial: CleanTrial, *, limit_s: float
) -> tuple[RunEnd, list[tuple[CauseText, Symptom]]]:
    """Make one clean run. Return its end and its symptoms. Raises RunsStopped."""
    run = _make(runs, trial, limit_s, alone=True)
    symptoms = _conduct_symptoms([run])
    if run.missed_base_path:
        symptoms.append(_base_path_symptom(run))
    return run.end, symptoms


def _make(
    runs: TrialRuns, trial: CleanTrial, limit_s: float | None, *, alone: bool
) -> _FinishedRun:
    end, visit = runs.clean(trial, limit_s, alone=alone)
    return _FinishedRun(trial, end, visit)


def _make_together(
    runs: TrialRuns, trials: Sequence[CleanTrial], limit_s: float, jobs: int
) -> list[_FinishedRun]:
    with ThreadPoolExecutor(min(jobs, len(trials))) as pool:
        return list(pool.map(lambda trial: _make(runs, trial, limit_s, alone=False), trials))


def _require_success(run: _FinishedRun, limit_s: float | None, *, is_second: bool) -> None:
    if not run.succeeded:
        raise CleanRunFailed(run.end, limit_s or 0, is_second=is_second)


def _breaks_more_rules(run: _FinishedRun, first: _FinishedRun) -> bool:
    """Return whether a run breaks a rule that the first run keeps. Notes do not count."""
    rules = {finding.rule for finding in first.visit.findings}
    return any(
        finding.rule not in rules and finding.severity != "note" for finding in run.visit.findings
    )


def _joined(first: _FinishedRun, second: _FinishedRun) -> CleanRun:
    assert first.visit.observation is not None
    assert second.visit.observation is not None
    return CleanRun.of_two_runs(
        first.visit.start,
        (first.end, first.visit.observation),
        (second.end, second.visit.observation),
    )


def _base_path_symptom(run: _FinishedRun) -> tuple[CauseText, Symptom]:
    request_count = run.visit.requests_by_world[_PATHLESS_WORLD]
    message = f"the base URL was {run.visit.base_url}, and {request_count} of its requests missed the path"
    return CAUSE_TEXTS["drops-base-path"], Symptom(str(run.trial), message, run.end.output)


def _conduct_symptoms(finished_runs: Sequence[_FinishedRun]) -> list[tuple[CauseText, Symptom]]:
    """Return the conduct findings of the clean runs, each rule once, and what else they show.

    They can also print the token, and use the process id as an Idempotency-Key.
    """
    symptoms: list[tuple[CauseText, Symptom]] = []
    rules: set[str] = set()
    for run in finished_runs:
        for finding in run.visit.findings:
            if finding.rule not in rules:
                rules.add(finding.rule)
                text = rule_cause(finding)
                if finding.rule in _REFUSED_RULES:
                    text = replace(text, severity="note")
                symptoms.append((text, finding_symptom(str(run.trial), finding)))
        if run.end.prints_token and _PRINTS_TOKEN not in rules:
            rules.add(_PRINTS_TOKEN)
            symptoms.append(_token_symptom(run))
    key = process_id_key(finished_runs[0].requests, finished_runs[0].end.pid)
    if key and all(process_id_key(run.requests, run.end.pid) for run in finished_runs):
        symptoms.append(_process_id_symptom(finished_runs[0].trial, key))
    return symptoms


def _process_id_symptom(trial: CleanTrial, key: str) -> tuple[CauseText, Symptom]:
    message = f"the Idempotency-Key {key!r} contains the id of the client's process"
    return CAUSE_TEXTS["key-of-process-id"], Symptom(str(trial), message)


def _token_symptom(run: _FinishedRun) -> tuple[CauseText, Symptom]:
    message = "the output contains the token that the command gets in HOSTING_TOKEN"
    return CAUSE_TEXTS[_PRINTS_TOKEN], Symptom(str(run.trial), message)
