"""Runs whose results a test decides, for a judge that makes no process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hosting_emulator.sdk import ConductFinding
from hosting_emulator_lab.judge.client_requests import NumberedRequest, number_requests
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.judge.trials import CleanTrial, Trial
from tests.lab.judge.samples import exchange, observed, state

#: Returns the result of a trial, which is alone or not. None stands for a trial that survives.
Results = Callable[[Trial, bool], TrialResult | None]
#: Returns how a clean run ends. It may be alone or not.
CleanEnds = Callable[[CleanTrial, bool], RunEnd]
CALLS = ("create_user_api_key", "apply_project_domains", "get_operation")


def survives(trial: Trial, alone: bool) -> TrialResult | None:
    """Let every trial survive."""
    return None


def succeeds(trial: CleanTrial, alone: bool) -> RunEnd:
    """Let every clean run succeed."""
    return RunEnd(0, duration_s=0.5, printed_lines=("done",))


class PlannedRuns(TrialRuns):
    """Makes no runs, but returns the results that a test has planned.

    `findings` are the conduct findings of clean runs by the text of their trial, to which ` alone` may
    be appended. `missed` is the number of requests that reached the default world in the run with a
    base path. `refused` are the numbers of the requests that the clean runs see refused, and
    `unauthenticated` is the number of further requests without a valid token. With `has_keys`, all clean
    runs send the same Idempotency-Keys. `is_slow` tells whether the machine has become slow. `log` lists
    the texts of all runs, with ` alone` where a run was alone, and `clean again` for a run that looks
    whether the machine has become slow.
    """

    def __init__(
        self,
        results: Results = survives,
        clean_ends: CleanEnds = succeeds,
        *,
        calls: Sequence[str] = CALLS,
        findings: dict[str, list[ConductFinding]] | None = None,
        missed: int = 0,
        refused: Sequence[int] = (),
        unauthenticated: int = 0,
        has_keys: bool = False,
        is_slow: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(self._no_run, limit_s=None, skip_rules=())
        self._results = results
        self._clean_ends = clean_ends
        self._requests: tuple[NumberedRequest, ...] = number_requests(
            exchange(call, n=n, idempotency_key=f"k-{n}" if has_keys else None)
            for n, call in enumerate(calls, 1)
        )
        self._findings = findings or {}
        self._missed = missed
        self._exchanges = [
            replace(request.exchange, status=409)
            if request.exchange.n in refused
            else request.exchange
            for request in self._requests
        ]
        self._unauthenticated = unauthenticated
        self._is_slow = is_slow
        self._log_lock = threading.Lock()
        self.log: list[str] = []

    def clean(
        self, trial: CleanTrial, limit_s: float | None, *, alone: bool
    ) -> tuple[RunEnd, RunVisit]:
        """Return the planned end of a clean run."""
        self._write(trial, alone)
        visit = RunVisit()
        visit.base_url = "http://127.0.0.1:1/worlds/run-2"
        visit.start = state()
        request_count = len(self._requests) + self._unauthenticated
        visit.observation = observed(self._requests, state(), request_count=request_count)
        findings = self._findings.get(str(trial), [])
        if alone:
            findings = self._findings.get(f"{trial} alone", findings)
        visit.findings_by_chapter = {0: findings}
        visit.exchanges = self._exchanges
        world = "run-2" if trial.kind == "base-path" else "default"
        visit.requests_by_world = Counter({world: len(self._requests)} if self._requests else {})
        if trial.kind == "base-path" and self._missed:
            visit.requests_by_world["default"] = self._missed
        return self._clean_ends(trial, alone), visit

    def trial(self, trial: Trial, clean: CleanRun, *, alone: bool = False) -> TrialResult:
        """Return the planned result of a trial."""
        self._write(trial, alone)
        planned = self._results(trial, alone)
        return planned or TrialResult(trial, "survived", (), 0, 0.5)

    def is_machine_slow(self, clean: CleanRun) -> bool:
        """Return whether the test has planned that the machine is slow now."""
        self._append("clean again")
        return self._is_slow()

    def _write(self, trial: Trial, alone: bool) -> None:
        self._append(f"{trial} alone" if alone else str(trial))

    def _append(self, text: str) -> None:
        with self._log_lock:
            self.run_count += 1
            self.log.append(text)

    @staticmethod
    def _no_run(*_: object) -> RunEnd:
        raise AssertionError("no run may be made")
