"""Repeats one trial of a judgment. In a report, the last line of each cause is the command for this."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hosting_emulator.messages import Severity
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.cause_texts import CauseText
from hosting_emulator_lab.judge.causes import Symptom, gather_causes
from hosting_emulator_lab.judge.clean_runs import compare_clean_runs, try_clean_run
from hosting_emulator_lab.judge.run_results import UNDECIDED_VERDICTS
from hosting_emulator_lab.judge.symptoms import symptoms_of
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.judge.trials import CleanTrial, Trial

_SLOW_MACHINE = (
    "a clean run right after it was much slower than before, so the machine was busy, and this trial "
    "proves nothing"
)


@dataclass(frozen=True, slots=True)
class SingleTrial:
    """The result of one repeated trial.

    `text` describes the result, and `printed_lines` is the output of the command. `exit_code` is 1
    if the trial shows a cause of the chosen severity, 2 if it proves nothing, and 0 otherwise.
    """

    text: str
    printed_lines: tuple[str, ...]
    exit_code: int


def try_once(runs: TrialRuns, trial: Trial, *, limit_s: float, severity: Severity) -> SingleTrial:
    """Make a trial once, after the clean runs with which it is compared.

    Each clean run ends after `limit_s` real seconds at the latest. If the client hangs in the trial,
    another clean run shows whether the machine has become slow. If it has, the trial proves nothing.

    Raises CleanRunFailed if a clean run does not succeed, ValueError if the trial does not apply to
    the command's requests, and RunsStopped if the runs were stopped.
    """
    if isinstance(trial, CleanTrial):
        end, symptoms = try_clean_run(runs, trial, limit_s=limit_s)
        verdict_text = f"exit code {end.exit_code}"
        is_undecided = end.hung or end.exit_code != 0
        return _single(trial, verdict_text, symptoms, end.printed_lines, severity, is_undecided)
    clean = compare_clean_runs(runs, limit_s=limit_s)
    result = runs.trial(trial, clean)
    text = _altered_text(result) if isinstance(trial, AlteredTrial) else _verdict_text(result)
    symptoms = list(symptoms_of(result))
    is_undecided = not result.hit or result.verdict in UNDECIDED_VERDICTS
    if result.verdict == "hung" and runs.is_machine_slow(clean):
        text = f"{text}; {_SLOW_MACHINE}"
        symptoms = [pair for pair in symptoms if pair[1].verdict != "hung"]
        is_undecided = True
    return _single(trial, text, symptoms, result.printed_lines, severity, is_undecided)


def _verdict_text(result: TrialResult) -> str:
    return f"{result.verdict}: {result.explanation}"


def _altered_text(result: TrialResult) -> str:
    """Describe the effect of an altered part on the client's behavior."""
    if not result.hit:
        return "no response was altered"
    reasons = "; ".join(result.reasons) or "the same requests, exit code and output"
    return f"{result.effect}: {reasons}"


def _single(
    trial: Trial,
    verdict_text: str,
    symptoms: Iterable[tuple[CauseText, Symptom]],
    printed_lines: Iterable[str] | None,
    severity: Severity,
    is_undecided: bool,
) -> SingleTrial:
    causes = gather_causes(symptoms, {})
    lines = [f"{trial}  {verdict_text}"]
    for cause in causes:
        lines.append(f"{cause.severity}: {cause.text.title} [{cause.id}]")
        lines += [f"    {symptom.message}" for symptom in cause.symptoms]
    exit_code = 0
    if any(cause.counts(severity) for cause in causes):
        exit_code = 1
    elif is_undecided:
        exit_code = 2
    return SingleTrial("\n".join(lines), tuple(printed_lines or ()), exit_code)
