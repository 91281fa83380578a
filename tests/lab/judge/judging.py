"""Judgments of clients whose runs a test has planned."""

from __future__ import annotations

from typing import Any

from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.cause_texts import CauseText
from hosting_emulator_lab.judge.causes import Symptom
from hosting_emulator_lab.judge.client_judge import ClientJudge, JudgeChoices
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.trial_plan import TrialPlan
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import Trial
from tests.lab.judge.planned_runs import PlannedRuns

#: How long runs may wait for each other, in real seconds.
PATIENCE_S = 10.0
RESET = "create_user_api_key#1/connection_reset/after_commit"


class Progress:
    """Notes what a judge reports while it works."""

    def __init__(self) -> None:
        self.planned_count = 0
        self.tried_counts: list[int] = []
        self.causes: list[str] = []
        self.alterations: list[str] = []

    def on_plan(self, plan: TrialPlan, clean: CleanRun) -> None:
        self.planned_count = plan.trial_count

    def on_trial(self, trial: Trial, tried: int, planned: int) -> None:
        self.tried_counts.append(tried)

    def on_alteration(self, trial: AlteredTrial, tried: int, planned: int) -> None:
        self.alterations.append(str(trial))

    def on_cause(self, text: CauseText, symptom: Symptom) -> None:
        self.causes.append(text.id)


def judge(runs: PlannedRuns, progress: Progress | None = None, **choices: Any) -> Judgment:
    """Judge a client whose runs a test has planned."""
    options: dict[str, Any] = {"command": "client", "budget_s": 60.0, "jobs": 1, **choices}
    stop_reason = options.pop("stop_reason", str)
    listener = progress or Progress()
    return ClientJudge(runs, JudgeChoices(**options), listener, stop_reason).judge()


def fails_at(text: str, **fields: Any) -> Any:
    """Return results in which one trial makes a change twice."""

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) != text:
            return None
        return TrialResult(trial, "doubled", ("2 keys",), 0, 0.5, **fields)

    return results


def hangs_at(*texts: str, **fields: Any) -> Any:
    """Return results in which the client hangs in some trials, beside other runs and alone."""

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) not in texts:
            return None
        return TrialResult(trial, "hung", ("it did not end",), 1, 10.0, **fields)

    return results
