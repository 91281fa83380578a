"""The symptoms that clean runs show: broken rules of conduct, and secrets or process ids in the wrong place.

A rule that is only broken by a refused request may be broken on purpose, as in a test of the refusal.
Therefore such a symptom is a note unless another run shows that the client does not expect the refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from hosting_emulator.messages import ConductFinding
from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial, refused_request
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, TOKEN_IN_OUTPUT, CauseText
from hosting_emulator_lab.judge.causes import Symptom, rule_cause
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.process_id_keys import process_id_key
from hosting_emulator_lab.judge.replaced_waiting import with_replaced_waiting
from hosting_emulator_lab.judge.run_results import RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.suite_output import is_test_suite
from hosting_emulator_lab.judge.symptoms import finding_symptom
from hosting_emulator_lab.judge.trials import CleanTrial

#: Makes the trial that accepts a request, and returns whether the client then fails, which means that
#: it expects the refusal.
ExpectsRefusal: TypeAlias = Callable[[AcceptedTrial], bool]

_PRINTS_TOKEN = "prints-token"
_EARLY_RETRY = "retried-too-soon"
#: At most this many refused requests are tried for each rule.
_MOST_REFUSED = 3
_EXPECTED = "The service refuses this request, and the command may be testing the refusal."


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A clean run that was made."""

    trial: CleanTrial
    end: RunEnd
    visit: RunVisit

    @property
    def succeeded(self) -> bool:
        """Whether the command exited with 0 in time."""
        return not self.end.hung and self.end.exit_code == 0

    @property
    def requests(self) -> tuple[NumberedRequest, ...]:
        """The requests of the run that a fault can meet."""
        assert self.visit.observation is not None
        return self.visit.observation.requests


@dataclass(frozen=True, slots=True)
class _BrokenRule:
    """A finding of a clean run.

    `refused` is the trial in which the finding's last request is accepted, or None if the service did
    not refuse this request. For an early retry, it may be the trial in which the first request is
    accepted.
    """

    trial: str
    finding: ConductFinding
    refused: AcceptedTrial | None


def expects_all_refusals(_: AcceptedTrial) -> bool:
    """Assume that the client expects a refusal, as long as no run has shown whether it does."""
    return True


def clean_run_symptoms(
    runs: Sequence[FinishedRun], expects_refusal: ExpectsRefusal
) -> list[tuple[CauseText, Symptom]]:
    """Return what clean runs show, each rule of conduct once. Raises any exception of `expects_refusal`."""
    symptoms: list[tuple[CauseText, Symptom]] = []
    # A run that was stopped prints no summary, but the first run was not.
    is_suite = is_test_suite(runs[0].end.printed_lines or ())
    for findings in _by_rule(runs, is_suite=is_suite).values():
        symptoms.append(_rule_symptom(findings, expects_refusal))
    for run in runs:
        if run.end.prints_token:
            symptoms.append(_token_symptom(run))
            break
    key = process_id_key(runs[0].requests, runs[0].end.pid)
    if key and all(process_id_key(run.requests, run.end.pid) for run in runs):
        symptoms.append(_process_id_symptom(runs[0].trial, key))
    return symptoms


def _by_rule(runs: Sequence[FinishedRun], *, is_suite: bool) -> dict[str, list[_BrokenRule]]:
    findings: dict[str, list[_BrokenRule]] = {}
    for run in runs:
        for broken in _broken_rules(run, is_suite=is_suite):
            findings.setdefault(broken.finding.rule, []).append(broken)
    return findings


def _broken_rules(run: FinishedRun, *, is_suite: bool) -> Iterator[_BrokenRule]:
    for chapter, findings in run.visit.findings_by_chapter.items():
        for finding in findings:
            refused = None
            if finding.requests:
                refused = refused_request(run.visit.exchanges, (chapter, finding.requests[-1]))
                if refused is None and finding.rule == _EARLY_RETRY:
                    # A test may expect the refusal, and the next test then sends the request again.
                    refused = refused_request(run.visit.exchanges, (chapter, finding.requests[0]))
            finding = with_replaced_waiting(finding, is_suite=is_suite)
            yield _BrokenRule(str(run.trial), finding, refused)


def _rule_symptom(
    findings: Sequence[_BrokenRule], expects_refusal: ExpectsRefusal
) -> tuple[CauseText, Symptom]:
    """Return the symptom of a broken rule. `findings` are all findings about this rule.

    The first finding whose refusal the client does not expect counts. If it expects all of them, the
    symptom is a note. A finding that is only a note counts if there is no other.
    """
    serious_findings = [broken for broken in findings if broken.finding.severity != "note"]
    if not serious_findings:
        return _symptom(findings[0])
    expectations: dict[AcceptedTrial, bool] = {}
    for broken in serious_findings:
        if broken.refused is not None:
            if broken.refused not in expectations and len(expectations) < _MOST_REFUSED:
                expectations[broken.refused] = expects_refusal(broken.refused)
            if expectations.get(broken.refused, True):
                continue
        return _symptom(broken)
    text, symptom = _symptom(serious_findings[0])
    symptom = replace(symptom, message=f"{symptom.message} {_EXPECTED}")
    return replace(text, severity="note", is_expected=True), symptom


def _symptom(broken: _BrokenRule) -> tuple[CauseText, Symptom]:
    return rule_cause(broken.finding), finding_symptom(broken.trial, broken.finding)


def _process_id_symptom(trial: CleanTrial, key: str) -> tuple[CauseText, Symptom]:
    message = f"the Idempotency-Key {key!r} contains the id of the client's process"
    return CAUSE_TEXTS["key-of-process-id"], Symptom(str(trial), message)


def _token_symptom(run: FinishedRun) -> tuple[CauseText, Symptom]:
    return CAUSE_TEXTS[_PRINTS_TOKEN], Symptom(str(run.trial), TOKEN_IN_OUTPUT)
