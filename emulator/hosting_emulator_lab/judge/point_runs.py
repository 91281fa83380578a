"""The runs of an exploration: one run for each point, which is repeated if it fails.

Unlike a judgment, an exploration makes all runs in the world that its user has chosen.
"""

from __future__ import annotations

from dataclasses import replace

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_results import CleanRun, ConductChoice
from hosting_emulator_lab.judge.symptoms import shown_causes
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trial_runs import PerformTrial, TrialRuns
from hosting_emulator_lab.judge.trials import FaultTrial
from hosting_emulator_lab.run_conditions import ORDINARY, RunConditions

#: The default limit on the number of runs.
MAX_RUNS = 300
#: The default time limit of a clean run, in real seconds.
CLEAN_LIMIT_S = 600.0


def exploration_runs(
    perform: PerformTrial,
    *,
    limit_s: float | None = None,
    conduct: ConductChoice = "report",
    skip_rules: tuple[str, ...] = (),
    conditions: RunConditions = ORDINARY,
) -> TrialRuns:
    """Return what makes the runs of an exploration. The arguments are those of TrialRuns.

    A client that waits for its own time limit gets no more time than others: an exploration delays
    responses at every request, and tests wait for one after the other.
    """
    return TrialRuns(
        perform,
        limit_s=limit_s,
        skip_rules=skip_rules,
        conduct=conduct,
        conditions=conditions,
        long_wait_s=0.0,
    )


def run_point(runs: TrialRuns, point: FaultPoint, clean: CleanRun) -> TrialResult:
    """Make the run at a point, and repeat it once if it fails, unless it hung.

    If the second run ends differently, the first result was due to chance or a busy machine, so only
    the second verdict counts. The result contains only the last lines that the client printed, because
    an exploration keeps all results.
    """
    first = _result(runs, point, clean)
    if first.is_fine or first.verdict == "hung":
        return first
    second = _result(runs, point, clean)
    if first.verdict == second.verdict:
        return first
    first_text = "; ".join([first.verdict, *first.reasons])
    note = f"the first of two runs: {first_text}"
    return replace(second, reasons=(*second.reasons, note))


def _result(runs: TrialRuns, point: FaultPoint, clean: CleanRun) -> TrialResult:
    result = runs.trial(FaultTrial(point), clean)
    return replace(result, causes=shown_causes(result), printed_lines=())
