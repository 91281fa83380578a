"""The verdict on a run at a point, compared with the clean run."""

from __future__ import annotations

from collections.abc import Sequence

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.judged_run import JudgedRun
from hosting_emulator_lab.judge.lasting_verdicts import lasting_verdict
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import (
    FINE_VERDICTS,
    UNDECIDED_VERDICTS,
    CleanRun,
    ConductChoice,
    RunEnd,
    Verdict,
)
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import FaultTrial
from hosting_emulator_lab.judge.wire_verdicts import wire_verdict
from hosting_emulator_lab.judge.world_summary import unfinished_operations


def judge_point(
    point: FaultPoint,
    end: RunEnd,
    observation: Observation,
    clean: CleanRun,
    *,
    limit_s: float,
    conduct: ConductChoice = "report",
) -> TrialResult:
    """Judge a run at a point. `limit_s` is the time limit of the run in real seconds."""
    new_findings = tuple(
        finding for finding in observation.conduct if finding not in clean.observation.conduct
    )
    run = JudgedRun(end, observation, clean, limit_s, point, new_findings)
    if point.lasting is not None and observation.hit:
        verdict, reasons = lasting_verdict(run, point.lasting)
    else:
        verdict, reasons = wire_verdict(run)
    counted_findings = _counted_findings(run, verdict, conduct)
    if counted_findings and verdict in (*FINE_VERDICTS, *UNDECIDED_VERDICTS):
        verdict = "misbehaved"
        reasons = [finding.partition(":")[0] for finding in counted_findings]
    return TrialResult(
        trial=FaultTrial(point),
        verdict=verdict,
        reasons=tuple(reasons),
        exit_code=end.exit_code,
        duration_s=round(end.duration_s, 3),
        output=() if verdict in FINE_VERDICTS else end.output,
        conduct=() if conduct == "off" else new_findings,
        codes=tuple(sorted(observation.codes)),
        hit=observation.hit,
        poll_count=observation.poll_count,
        has_unfinished_operation=_has_unfinished_operation(observation, clean),
    )


def _has_unfinished_operation(observation: Observation, clean: CleanRun) -> bool:
    """Return whether an operation of the run had not ended when the run ended."""
    unfinished = unfinished_operations(observation.state) - unfinished_operations(clean.start)
    return bool(unfinished)


def _counted_findings(run: JudgedRun, verdict: Verdict, conduct: ConductChoice) -> Sequence[str]:
    """Return the conduct findings that count against a run with this verdict."""
    if conduct == "off":
        return ()
    if conduct == "error" and verdict in ("survived", "not reached"):
        return run.findings
    return [finding for finding in run.observation.conduct_errors if finding in run.findings]
