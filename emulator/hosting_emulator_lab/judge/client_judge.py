"""Judges a client: makes its clean runs, then the planned trials within a budget."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from hosting_emulator.messages import Severity
from hosting_emulator.sdk import ControlError
from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.alterations import plan_alterations
from hosting_emulator_lab.judge.cause_evidence import CauseEvidence
from hosting_emulator_lab.judge.cause_texts import CauseText
from hosting_emulator_lab.judge.causes import Symptom
from hosting_emulator_lab.judge.clean_runs import CleanRuns, make_clean_runs
from hosting_emulator_lab.judge.dependencies import ClientDependencies, PartEffect
from hosting_emulator_lab.judge.dependency_texts import with_wording_fields
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.symptoms import is_varied_failure
from hosting_emulator_lab.judge.trial_plan import TrialPlan, plan_trials
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.judge.trials import FaultTrial, PhasesTrial, Trial, VariedTrial
from hosting_emulator_lab.judge.variation_causes import points_of_same_causes
from hosting_emulator_lab.judge.variation_search import varied_results
from hosting_emulator_lab.run_conditions import RunsStopped

#: The seeds of the trials with varied responses.
SEEDS = ("1", "2", "3")
#: The failure of the opening trial: the response to a change is lost.
_OPENING = ("connection_reset", "after_commit")
#: There is an opening trial only if the clean run takes at most this share of the budget.
_OPENING_SHARE = 0.05
#: Trials that are in progress when the budget is used up may continue for this long, in real seconds.
GRACE_S = 20.0
#: A suggested budget is this much longer than the estimated time, and a multiple of so many seconds.
_SPARE_TIME = 1.25
_BUDGET_STEP_S = 10


class Listener(Protocol):
    """Is told about the progress of a judgment, from several threads but never from two at once."""

    def on_plan(self, plan: TrialPlan, clean: CleanRun) -> None:
        """The clean runs have ended, and these trials follow."""

    def on_trial(self, trial: Trial, tried: int, planned: int) -> None:
        """A trial has ended. So many of the planned trials have ended now."""

    def on_alteration(self, trial: AlteredTrial, tried: int, planned: int) -> None:
        """A trial that alters a response has ended. All other trials have ended before."""

    def on_cause(self, text: CauseText, symptom: Symptom) -> None:
        """A cause was found, and a run that was alone showed it. This may be before `on_plan`.

        The judgment may report the cause under a better cause that is found later.
        """


@dataclass(frozen=True, kw_only=True)
class JudgeChoices:
    """What a user chose, and the machine.

    `budget_s` is in real seconds. `jobs` is the largest number of parallel runs, and `processors` is
    the number of processors.
    """

    command: str
    budget_s: float
    jobs: int
    processors: int = 1
    severity: Severity = "warning"


class ClientJudge:
    """Judges one client. Call `judge` once.

    `stop_reason` returns why no more runs may be made, such as `interrupted`, or an empty text.
    """

    def __init__(
        self,
        runs: TrialRuns,
        choices: JudgeChoices,
        listener: Listener,
        stop_reason: Callable[[], str],
    ) -> None:
        self._runs = runs
        self._choices = choices
        self._listener = listener
        self._stop_reason = stop_reason
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._evidence = CauseEvidence(runs, listener.on_cause, self._lock)
        self._tried: set[Trial] = set()
        #: What the altered responses have shown so far.
        self._effects: list[PartEffect] = []
        #: What the first clean run came to, as soon as it has ended.
        self._first: CleanRuns | None = None
        #: The result of the run without variation, once a varied trial has failed.
        self._unvaried: TrialResult | None = None
        #: What the opening trial showed, if there was one.
        self._opening: TrialResult | None = None

    def judge(self) -> Judgment:
        """Make all runs, and return the judgment.

        Raises CleanRunFailed or ScaledRunFailed if a clean run does not succeed, and RunsStopped if
        the runs are stopped before the first clean run has ended.
        """
        self._runs.trials_end_at = self._began + self._choices.budget_s + GRACE_S
        clean_runs = self._make_clean_runs()
        clean = clean_runs.clean
        plan = plan_trials(clean.observation.requests, SEEDS)
        self._listener.on_plan(plan, clean)
        self._evidence.add_clean_runs(clean_runs)
        self._use_opening(plan, clean)
        jobs = self._job_count(clean_runs)
        trials_began = time.monotonic()
        self._make_trials(plan, clean, jobs)
        trials_s = time.monotonic() - trials_began
        alterations = plan_alterations(clean.observation.requests)
        # What the client depends on is the least urgent question: it proves nothing about failures.
        if not self._unproven(plan, clean) or self._has_counted_cause():
            self._make_alterations(alterations, clean, jobs)
        return self._judgment(plan, clean_runs, jobs, trials_s, self._dependencies(alterations))

    def _make_clean_runs(self) -> CleanRuns:
        """Make the clean runs. If they are stopped after the first run, return what that run came to.

        Raises as `judge` does.
        """
        choices = self._choices
        try:
            return make_clean_runs(
                self._runs, limit_s=choices.budget_s, jobs=choices.jobs, on_first=self._open
            )
        except RunsStopped:
            if self._first is None:
                raise
            return self._first

    def _open(self, first: CleanRuns) -> None:
        """Report what the first clean run shows, and make the opening trial.

        If a client makes a mistake after a lost response, its user learns of it within seconds.
        """
        # Only a second clean run shows which keys the client always uses.
        clean = replace(first.clean, same_keys=())
        self._first = replace(first, clean=clean)
        self._evidence.announce_first(first)
        if clean.end.duration_s > self._choices.budget_s * _OPENING_SHARE:
            return
        plan = plan_trials(clean.observation.requests, SEEDS)
        trial = next((trial for trial in plan.required if _is_opening(trial)), None)
        if trial is None or not self._has_time():
            return
        try:
            opening = self._runs.trial(trial, clean, alone=True)
            if opening.verdict == "hung" and self._runs.is_machine_slow(clean):
                # The trial is made again with the other trials.
                return
        except RunsStopped:
            return
        self._opening = opening
        self._evidence.announce(opening)

    def _use_opening(self, plan: TrialPlan, clean: CleanRun) -> None:
        """Add what the opening trial showed, if it would have shown the same beside both clean runs.

        Otherwise its trial is made again.
        """
        result = self._opening
        if result is None or clean.varying_kinds or clean.same_keys:
            return
        self._evidence.add_alone(result)
        self._count(result.trial, plan)

    def _job_count(self, clean_runs: CleanRuns) -> int:
        """Return how many trials are made in parallel.

        There are no more than the processors can serve, so that a run takes hardly longer than it takes
        alone. A run that mostly waits leaves the processors to others.
        """
        if clean_runs.disturb_each_other:
            return 1
        end = clean_runs.clean.end
        if not end.cpu_s:
            return self._choices.jobs
        waiting_factor = max(1.0, end.duration_s / end.cpu_s)
        served = math.ceil(self._choices.processors * waiting_factor)
        return min(self._choices.jobs, served)

    # --- Trials ----------------------------------------------------------------------------------

    def _make_trials(self, plan: TrialPlan, clean: CleanRun, jobs: int) -> None:
        """Make all trials for which there is time, several in parallel."""
        points = [trial for trial in (*plan.required, *plan.others) if trial not in self._tried]
        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self._try_point, point, clean, plan) for point in points[:1]]
            futures.append(pool.submit(self._try_variation, plan, clean))
            futures += [pool.submit(self._try_point, point, clean, plan) for point in points[1:]]
            for future in futures:
                future.result()

    def _has_time(self) -> bool:
        """Return whether another trial may begin."""
        used_s = time.monotonic() - self._began
        return used_s < self._choices.budget_s and not self._stop_reason()

    def _try_point(self, trial: FaultTrial, clean: CleanRun, plan: TrialPlan) -> None:
        if not self._has_time():
            return
        try:
            result = self._runs.trial(trial, clean)
            self._evidence.add(result, clean)
        except RunsStopped:
            return
        self._count(trial, plan)

    def _try_variation(self, plan: TrialPlan, clean: CleanRun) -> None:
        """Make the varied trials one after the other, because one explains what the next one shows."""
        known_points: list[str] = []
        for trial in plan.varied:
            try:
                results = varied_results(
                    trial,
                    self._varied_run(clean),
                    lambda: self._unvaried_result(clean),
                    known_points,
                )
                for result in results:
                    self._evidence.add(result, clean)
                    if isinstance(result.trial, VariedTrial) and is_varied_failure(result):
                        known_points += points_of_same_causes(result.trial.points)
            except RunsStopped:
                return
            self._count(trial, plan)

    def _varied_run(self, clean: CleanRun) -> Callable[[VariedTrial], TrialResult]:
        def run(trial: VariedTrial) -> TrialResult:
            if not self._has_time():
                raise RunsStopped
            return self._runs.trial(trial, clean)

        return run

    def _unvaried_result(self, clean: CleanRun) -> TrialResult:
        """Return what a run shows under the conditions of varied trials, but without variation.

        The run is made once. Raises RunsStopped.
        """
        if self._unvaried is None:
            self._unvaried = self._runs.trial(PhasesTrial(), clean)
        return self._unvaried

    def _has_counted_cause(self) -> bool:
        lowest = self._choices.severity
        return any(cause.counts(lowest) for cause in self._evidence.causes())

    def _make_alterations(
        self, alterations: Sequence[AlteredTrial], clean: CleanRun, jobs: int
    ) -> None:
        """Alter each part of the responses once, as long as there is time, several in parallel."""

        def alter(trial: AlteredTrial) -> None:
            if not self._has_time():
                return
            try:
                result = self._evidence.add(self._runs.trial(trial, clean), clean)
            except (ControlError, RunsStopped):
                # The emulator may refuse an alteration, which then counts as not tried.
                return
            with self._lock:
                if result.hit:
                    self._effects.append(PartEffect(trial, result.effect, result.is_allowed))
                self._listener.on_alteration(trial, len(self._effects), len(alterations))

        with ThreadPoolExecutor(jobs) as pool:
            for future in [pool.submit(alter, trial) for trial in alterations]:
                future.result()

    def _dependencies(self, alterations: Sequence[AlteredTrial]) -> ClientDependencies:
        """Return what the client depends on, in the order of the plan."""
        effects = {effect.trial: effect for effect in self._effects}
        return ClientDependencies(
            effects=[effects[trial] for trial in alterations if trial in effects],
            not_tried=[trial for trial in alterations if trial not in effects],
        )

    def _count(self, trial: Trial, plan: TrialPlan) -> None:
        with self._lock:
            self._tried.add(trial)
            self._listener.on_trial(trial, len(self._tried), plan.trial_count)

    # --- Judgment --------------------------------------------------------------------------------

    def _judgment(
        self,
        plan: TrialPlan,
        clean_runs: CleanRuns,
        jobs: int,
        trials_s: float,
        dependencies: ClientDependencies,
    ) -> Judgment:
        clean = clean_runs.clean
        all_trials: list[Trial] = [*plan.varied, *plan.required, *plan.others]
        not_tried = [trial for trial in all_trials if trial not in self._tried]
        return Judgment(
            command=self._choices.command,
            request_count=clean.observation.request_count,
            clean_s=clean.end.duration_s,
            run_count=self._runs.run_count,
            duration_s=time.monotonic() - self._began,
            causes=with_wording_fields(self._evidence.causes(), dependencies),
            planned=len(all_trials),
            tried=len(all_trials) - len(not_tried),
            not_tried=not_tried,
            needed_s=self._needed_budget(len(not_tried), clean, jobs, trials_s),
            unproven=self._unproven(plan, clean),
            remarks=[
                *clean_runs.remarks,
                *self._evidence.remarks(),
                *self._stop_remarks(),
            ],
            coverage=clean.observation.coverage,
            severity=self._choices.severity,
            dependencies=dependencies,
        )

    def _stop_remarks(self) -> list[str]:
        reason = self._stop_reason()
        return [f"The judgment ended early: {reason}."] if reason else []

    def _unproven(self, plan: TrialPlan, clean: CleanRun) -> list[str]:
        """Return why the trials do not prove that the client survives."""
        if not clean.observation.request_count:
            return [
                "The command sends no request to the emulator. Does it use HOSTING_BASE_URL and "
                "HOSTING_TOKEN?"
            ]
        if not plan.required:
            return [
                "None of the command's requests has a valid token or API key, such as HOSTING_TOKEN."
            ]
        reasons = []
        missing = [trial for trial in plan.required if trial not in self._tried]
        if missing:
            pairs = count_text(len(missing), "pair")
            reasons.append(f"There was no time for {pairs} of a call and a kind of failure.")
        if not any(self._is_expiry(trial) for trial in self._tried):
            reasons.append("No run had an expired token.")
        missing_seeds = [trial for trial in plan.varied if trial not in self._tried]
        if len(missing_seeds) == len(plan.varied):
            reasons.append("No run had varied responses.")
        return reasons

    @staticmethod
    def _is_expiry(trial: Trial) -> bool:
        return isinstance(trial, FaultTrial) and trial.point.fault == "token_expired"

    def _needed_budget(self, not_tried: int, clean: CleanRun, jobs: int, trials_s: float) -> int:
        """Estimate a budget in real seconds that would do for all trials."""
        if not not_tried:
            return math.ceil(self._choices.budget_s)
        used_s = time.monotonic() - self._began
        # Until trials have shown how long they take, a trial is as long as the clean run.
        seconds_per_trial = clean.end.duration_s / jobs
        if self._tried:
            seconds_per_trial = trials_s / len(self._tried)
        estimate_s = (used_s + not_tried * seconds_per_trial) * _SPARE_TIME
        return _BUDGET_STEP_S * math.ceil(estimate_s / _BUDGET_STEP_S)


def _is_opening(trial: FaultTrial) -> bool:
    point = trial.point
    return (point.fault, point.phase) == _OPENING
