"""The verdict on a run that met a fault of the wire, which passes, or that met no fault."""

from __future__ import annotations

from hosting_emulator_lab.judge.judged_run import ExplainedVerdict, JudgedRun


def wire_verdict(run: JudgedRun) -> ExplainedVerdict:
    """Judge a run that met a fault of the wire or no fault. A careful client succeeds."""
    end = run.end
    has_usual_exit_code = end.exit_code == run.clean.end.exit_code
    if not run.observation.hit and not end.hung and has_usual_exit_code:
        return "not reached", []
    if end.hung:
        return "hung", [f"it did not end within {run.limit_s:g} s", *run.differences.additions]
    if not has_usual_exit_code:
        return _failure_verdict(run)
    if run.differences.additions:
        return "doubled", run.differences.texts
    if run.lacks_value():
        return run.verdict_without_value()
    if run.differences.texts:
        return "differs", run.differences.texts
    return "survived", []


def _failure_verdict(run: JudgedRun) -> ExplainedVerdict:
    """Judge a run that ended with another exit code than the clean run."""
    observation = run.observation
    additions = run.differences.additions
    # A client that knows that its key's value is lost cannot succeed.
    if observation.hit and observation.lost_keys and not additions:
        return "gave up", []
    reasons = [run.end.failure_text or f"exit code {run.end.exit_code}", *additions]
    if not observation.hit:
        reasons.append("although the fault hit no request: it may fail intermittently")
    return "failed", reasons
