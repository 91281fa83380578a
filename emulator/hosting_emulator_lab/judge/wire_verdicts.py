"""The verdict on a run that can succeed, because it met no fault or only a wire fault, which is transient."""

from __future__ import annotations

from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.judged_run import ComparedRun, ExplainedVerdict, JudgedRun


def wire_verdict(run: JudgedRun) -> ExplainedVerdict:
    """Judge a run that met a wire fault or no fault. A careful client succeeds."""
    if run.observation.hit:
        return ordinary_verdict(run)
    if not run.end.hung and _has_usual_exit_code(run):
        return "not reached", []
    verdict, reasons = ordinary_verdict(run)
    if verdict in ("failed", "gave up"):
        doubt = "although the fault hit no request: it may fail intermittently"
        return "failed", [*_failure_reasons(run), doubt]
    return verdict, reasons


def ordinary_verdict(run: ComparedRun) -> ExplainedVerdict:
    """Judge a run in which nothing prevented success."""
    if run.end.hung:
        text = f"it did not end within {run.limit_s:g} s"
        if run.end.sent_too_much:
            requests = count_text(run.observation.request_count, "request")
            text = f"it had not ended after {run.lasted_s:g} s and {requests}"
        return "hung", [text, *run.differences.additions]
    if not _has_usual_exit_code(run):
        # A client that knows that its key's value is lost cannot succeed.
        if run.observation.lost_keys and not run.differences.additions:
            return "gave up", []
        return "failed", _failure_reasons(run)
    if run.differences.additions:
        return "doubled", run.differences.texts
    if run.lacks_value():
        return run.verdict_without_value()
    if run.differences.texts:
        return "differs", run.differences.texts
    return "survived", []


def _has_usual_exit_code(run: ComparedRun) -> bool:
    return run.end.exit_code == run.clean.end.exit_code


def _failure_reasons(run: ComparedRun) -> list[str]:
    """Describe the end of a run whose exit code differs from the clean run's."""
    return [run.end.failure_text or f"exit code {run.end.exit_code}", *run.differences.additions]
