"""Makes the runs of trials, and compares each with the clean run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeAlias

from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.alterations import alteration_of
from hosting_emulator_lab.judge.client_behavior import behavior_difference, effect_of
from hosting_emulator_lab.judge.early_ends import early_end_text
from hosting_emulator_lab.judge.exchange_counts import excess_attempts
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.fault_visits import FaultVisits
from hosting_emulator_lab.judge.invalid_requests import invalid_request_text
from hosting_emulator_lab.judge.item_counts import missing_items_text, repeated_items_text
from hosting_emulator_lab.judge.judged_run import ComparedRun
from hosting_emulator_lab.judge.list_order import ItemValues, omitted_line, omitted_request
from hosting_emulator_lab.judge.new_findings import new_findings
from hosting_emulator_lab.judge.point_verdicts import judge_point
from hosting_emulator_lab.judge.recovery import has_recovered
from hosting_emulator_lab.judge.run_gate import RunGate
from hosting_emulator_lab.judge.run_observation import Observation, error_texts, finding_texts
from hosting_emulator_lab.judge.run_results import CleanRun, ConductChoice, RunEnd, behavior_of
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.state_differences import state_differences
from hosting_emulator_lab.judge.time_limits import TimeLimits
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import (
    CleanTrial,
    FaultTrial,
    PhasesTrial,
    Trial,
    VariedTrial,
)
from hosting_emulator_lab.judge.unread_pages import misses_items, stopped_at_page
from hosting_emulator_lab.judge.wire_verdicts import ordinary_verdict
from hosting_emulator_lab.run_conditions import (
    ALL_PHASES,
    ONE_POLL,
    RunConditions,
    RunsStopped,
)

#: Makes a run under some conditions. The text names the run's world, and the number is the run's time
#: limit in real seconds, or None if there is no limit. The function calls `begin` and `end` of the
#: visit. Raises RunsStopped.
PerformTrial: TypeAlias = Callable[[RunVisit, str, float | None, RunConditions], RunEnd]

#: The faults for which a client waits, and what is added to the time limit of their trials: it is longer
#: than the time limits that clients usually have for a response, and for an operation.
_LONG_WAITS = ("timeout", "stalled_response", "stick")
LONG_WAIT_S = 35.0


class TrialRuns:
    """Makes trials of one client. `skip_rules` are conduct rules that are not checked.

    Several threads may make trials at the same time. `limit_s` is the time limit of each trial in
    real seconds. If it is None, the limit depends on the duration of the clean run. It is then
    `long_wait_s` longer for a trial in which a client may wait for its own time limit.

    `conduct` decides which conduct findings count for the verdict on the trial of a fault. If
    `conditions` is not None, all runs have these conditions. Otherwise, each trial decides.
    """

    def __init__(
        self,
        perform: PerformTrial,
        *,
        limit_s: float | None,
        skip_rules: Sequence[str] = (),
        conduct: ConductChoice = "report",
        conditions: RunConditions | None = None,
        long_wait_s: float = LONG_WAIT_S,
    ) -> None:
        self._perform = perform
        self._conduct = conduct
        self._conditions = conditions
        self._long_wait_s = long_wait_s
        self._limits = TimeLimits(limit_s)
        self._visits = FaultVisits(self._perform_patience, self._limits, skip_rules=skip_rules)
        self._skip_rules = skip_rules
        self._gate = RunGate()
        self._lock = threading.Lock()
        #: Whether operations are polled in each of their phases in all runs, because the command fails
        #: if they end at the first poll.
        self.shows_all_phases = False
        #: The number of runs so far.
        self.run_count = 0
        #: When trials that are still in progress are ended, by `time.monotonic`. None means never.
        self.trials_end_at: float | None = None

    def clean(
        self, trial: CleanTrial, limit_s: float | None, *, alone: bool
    ) -> tuple[RunEnd, RunVisit]:
        """Make a clean run, which ends after `limit_s` real seconds if this is not None."""
        # Only the conduct in the run whose clock runs matters, so its log may be incomplete.
        visit = RunVisit(skip_rules=self._skip_rules, is_baseline=trial.kind != "scaled")
        end = self._run(visit, trial, limit_s, alone=alone)
        return end, visit

    def trial(self, trial: Trial, clean: CleanRun, *, alone: bool = False) -> TrialResult:
        """Make a trial that is not a clean run, and compare it with the clean run.

        If `alone` is True, no other run is in progress meanwhile, except those of clients that wait for
        what does not come. Raises RunsStopped if the runs are stopped or the trial has not ended by
        `trials_end_at`, and ValueError if the trial does not apply to the requests of the clean run.
        """
        assert not isinstance(trial, CleanTrial)
        if isinstance(trial, FaultTrial):
            return self._fault_trial(trial, clean, alone=alone)
        if isinstance(trial, AlteredTrial):
            return self._altered_trial(trial, clean, alone=alone)
        if isinstance(trial, AcceptedTrial):
            return self._accepted_trial(trial, clean, alone=alone)
        if isinstance(trial, PhasesTrial):
            return self._phases_trial(trial, clean, alone=alone)
        return self._varied_trial(trial, clean, alone=alone)

    def is_machine_slow(self, clean: CleanRun) -> bool:
        """Make another clean run alone, and return whether the machine has become slow since `clean`.

        The machine counts as slow if this run takes much longer than the clean run did, or fails. The
        load that other runs of the client cause does not count. Raises RunsStopped if the runs are
        stopped or the run has not ended by `trials_end_at`.
        """
        had_aside = self._gate.has_aside
        if self._succeeds_again(clean, self._gate.alone()):
            return False
        if not had_aside and not self._gate.has_aside:
            return True
        # Clients that wait for a response that does not arrive may have used the processors meanwhile.
        return not self._succeeds_again(clean, self._gate.empty())

    def _succeeds_again(self, clean: CleanRun, gate: AbstractContextManager[None]) -> bool:
        """Return whether another clean run succeeds, and takes hardly longer than `clean` did."""
        visit = RunVisit(skip_rules=self._skip_rules)
        limit_s = self._limits.longest_clean_s(clean)
        end = self._run_inside(gate, visit, CleanTrial(), limit_s, self.trials_end_at)
        return not end.hung and end.exit_code == clean.end.exit_code

    def _fault_trial(self, trial: FaultTrial, clean: CleanRun, *, alone: bool) -> TrialResult:
        point = trial.point
        limit_s = self._limits.limit_s(clean, is_lasting=point.lasting is not None)
        # A client that is alone needs no longer than it needed beside others.
        if point.fault in _LONG_WAITS and not alone and self._limits.own_limit_s is None:
            limit_s += self._long_wait_s
        visit = self._visits.visit(point, clean)
        end = self._run(visit, trial, limit_s, alone=alone)
        assert visit.observation is not None
        findings = new_findings(visit, clean)
        # Findings that the clean run explains do not count toward the verdict.
        observation = replace(
            visit.observation, conduct=finding_texts(findings), conduct_errors=error_texts(findings)
        )
        result = judge_point(point, end, observation, clean, limit_s=limit_s, conduct=self._conduct)
        return replace(
            result,
            findings=findings,
            additional_replays=_additional_replays(observation, clean),
            fast_attempts=excess_attempts(observation.fast_attempts, clean.observation.exchanges),
            repeated_items=repeated_items_text(end, observation, clean),
            missing_items=missing_items_text(end, observation, clean),
            invalid_request=invalid_request_text(
                observation.exchanges, clean.observation.exchanges
            ),
            early_end=("" if point.lasting else early_end_text(point, end, observation, clean)),
            is_refused_anyway=_is_refused(point, clean),
            has_recovered=result.verdict == "failed"
            and not state_differences(observation, clean).additions
            and has_recovered(observation, clean),
            restarted_operations=_count_restarted(point, observation, clean),
            printed_lines=end.printed_lines or (),
            is_suite=clean.is_suite,
            prints_token=end.prints_token,
        )

    def _varied_trial(self, trial: VariedTrial, clean: CleanRun, *, alone: bool) -> TrialResult:
        visit = RunVisit(skip_rules=self._skip_rules)
        result, end = self._compared_run(visit, trial, clean, alone=alone)
        assert visit.observation is not None
        return replace(
            result,
            findings=new_findings(visit, clean),
            invalid_request=invalid_request_text(
                visit.observation.exchanges, clean.observation.exchanges
            ),
            stopped_at_page=stopped_at_page(end, visit.observation, clean),
            misses_items=misses_items(end, visit.observation, clean),
            varied=end.varied,
        )

    def _altered_trial(self, trial: AlteredTrial, clean: CleanRun, *, alone: bool) -> TrialResult:
        alteration = alteration_of(trial, clean.observation.requests)
        visit = RunVisit(skip_rules=self._skip_rules, fault=alteration.fault)
        result, end = self._compared_run(visit, trial, clean, alone=alone)
        assert visit.observation is not None
        first, second = clean.behaviors
        behavior = behavior_of(end, visit.observation)
        effect = effect_of(behavior, first, second)
        reasons = result.reasons
        if not reasons and effect != "ignores":
            reasons = (behavior_difference(behavior, first),)
        request = ""
        line = ""
        if trial.change == "reorder":
            request = omitted_request(behavior, first, second)
            values = ItemValues.of_list(clean.observation.requests, trial.call, trial.part)
            line = omitted_line(behavior, first, second, values)
        return replace(
            result,
            reasons=reasons,
            hit=visit.fault_hits > 0,
            effect=effect,
            is_allowed=alteration.is_allowed,
            omitted_request=request,
            omitted_line=line,
        )

    def _phases_trial(self, trial: PhasesTrial, clean: CleanRun, *, alone: bool) -> TrialResult:
        visit = RunVisit(skip_rules=self._skip_rules)
        result, _ = self._compared_run(visit, trial, clean, alone=alone)
        return replace(result, findings=new_findings(visit, clean))

    def _accepted_trial(self, trial: AcceptedTrial, clean: CleanRun, *, alone: bool) -> TrialResult:
        fault = trial.fault(clean.observation.requests)
        visit = RunVisit(skip_rules=self._skip_rules, fault=fault)
        result, _ = self._compared_run(visit, trial, clean, alone=alone)
        return replace(result, hit=visit.fault_hits > 0)

    def _compared_run(
        self, visit: RunVisit, trial: Trial, clean: CleanRun, *, alone: bool
    ) -> tuple[TrialResult, RunEnd]:
        """Make a run without a fault point, and compare it with the clean run."""
        limit_s = self._limits.limit_s(clean, is_lasting=False)
        end = self._run(visit, trial, limit_s, alone=alone)
        assert visit.observation is not None
        verdict, reasons = ordinary_verdict(ComparedRun(end, visit.observation, clean, limit_s))
        result = TrialResult(
            trial,
            verdict,
            tuple(reasons),
            end.exit_code,
            round(end.duration_s, 3),
            output=end.output,
            printed_lines=end.printed_lines or (),
            is_suite=clean.is_suite,
            prints_token=end.prints_token,
        )
        return result, end

    def _run(self, visit: RunVisit, trial: Trial, limit_s: float | None, *, alone: bool) -> RunEnd:
        gate = self._gate_of(trial, alone=alone)
        ends_at = None if isinstance(trial, CleanTrial) else self.trials_end_at
        return self._run_inside(gate, visit, trial, limit_s, ends_at)

    def _run_inside(
        self,
        gate: AbstractContextManager[None],
        visit: RunVisit,
        trial: Trial,
        limit_s: float | None,
        ends_at: float | None,
    ) -> RunEnd:
        """Make a run inside a gate. It is ended at `ends_at` by `time.monotonic`, unless this is None.

        Raises RunsStopped if that is before its time limit.
        """
        with self._lock:
            self.run_count += 1
            name = f"run-{self.run_count}"
        conditions = self._conditions or trial.conditions
        if self.shows_all_phases and conditions.operation_profile == ONE_POLL:
            conditions = replace(conditions, operation_profile=ALL_PHASES)
        with gate:
            if limit_s is None or ends_at is None:
                return self._perform(visit, name, limit_s, conditions)
            left_s = ends_at - time.monotonic()
            if left_s <= 0:
                raise RunsStopped
            end = self._perform(visit, name, min(limit_s, left_s), conditions)
        if end.hung and not end.sent_too_much and left_s < limit_s:
            # Nobody knows whether the client would have ended within its time limit.
            raise RunsStopped
        return end

    def _gate_of(self, trial: Trial, *, alone: bool) -> AbstractContextManager[None]:
        """Return the context in which a run is made.

        A client that waits for what does not come disturbs nobody, and would keep the others waiting for
        most of a minute. Its run does not count as being in progress.
        """
        if alone:
            return self._gate.alone()
        if isinstance(trial, FaultTrial) and trial.point.fault in _LONG_WAITS:
            return self._gate.aside()
        return self._gate.shared()

    def _perform_patience(self, visit: RunVisit, point: FaultPoint, limit_s: float) -> RunEnd:
        """Make the run that shows how long the client waits for a response."""
        return self._run(visit, FaultTrial(point), limit_s, alone=False)


def _is_refused(point: FaultPoint, clean: CleanRun) -> bool:
    """Return whether the clean run's request at a point was refused."""
    return any(
        request.name == point.request and request.exchange.status >= 400
        for request in clean.observation.requests
    )


def _count_restarted(point: FaultPoint, observation: Observation, clean: CleanRun) -> int:
    """Return how many operations failed beyond those that the clean run starts.

    It is 0 for all faults except `fail`, whose errors are not retryable.
    """
    if point.fault != "fail":
        return 0
    failures = observation.failed_operations - clean.observation.failed_operations
    requests = clean.observation.requests
    started = sum(request.begins_operation and request.call == point.call for request in requests)
    return max(0, failures.total() - started)


def _additional_replays(observation: Observation, clean: CleanRun) -> int:
    """Return the number of replays beyond those of the clean run."""
    return max(0, _count_replays(observation) - _count_replays(clean.observation))


def _count_replays(observation: Observation) -> int:
    return sum(bool(request.exchange.replayed) for request in observation.requests)
