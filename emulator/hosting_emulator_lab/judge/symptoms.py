"""Derives the symptoms of causes from the result of a trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hosting_emulator.messages import ConductFinding
from hosting_emulator.sdk.conduct_text import request_numbers
from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, TOKEN_IN_OUTPUT, CauseText
from hosting_emulator_lab.judge.causes import Symptom, rule_cause
from hosting_emulator_lab.judge.dependency_texts import cause_of_alteration
from hosting_emulator_lab.judge.failed_tests import failed_tests
from hosting_emulator_lab.judge.point_causes import FAILED_OPERATIONS, cause_at_point
from hosting_emulator_lab.judge.replaced_waiting import REPLACED_WAITING, with_replaced_waiting
from hosting_emulator_lab.judge.run_results import Verdict
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trial_texts import trial_description
from hosting_emulator_lab.judge.trials import FaultTrial, PhasesTrial, VariedTrial
from hosting_emulator_lab.judge.variation_causes import VARIATION_CAUSES, causes_of_points

_UNNOTICED_FAILURE = "it exits with code 0, although the operation that the request started {}"
#: What a report says in place of a verdict whose name does not explain itself.
_VERDICT_TEXTS: Mapping[Verdict, str] = {"blind success": "it exits with code 0"}
_IGNORED_REVOCATION = (
    "with the status revoked, it sends the same requests and prints the same as with authorized"
)
#: This many attempts without pauses are too many. A client may retry once immediately.
_TOO_FAST_ATTEMPTS = 3
#: At most this many characters of a printed line are part of a message.
_LONGEST_LINE = 80
#: The causes of clients that end a list, or fail, at a page that is not full.
_FULL_PAGES = "expects-full-pages"
_EXACT_PAGE_SIZE = "expects-exact-page-size"
#: The causes of failures while operations are polled in each of their phases.
_PHASES_CAUSES = {
    "failed": "expects-short-operation",
    "differs": "unfinished-operation-is-success",
    "doubled": "done-twice",
    "blind success": "key-value-lost",
}


def symptoms_of(
    result: TrialResult, *, follows_operations: bool = True
) -> Iterator[tuple[CauseText, Symptom]]:
    """Yield the symptoms that a trial shows, from its conduct findings and its verdict.

    `follows_operations` tells whether the client polls its operations to their end in a clean run.
    """
    for new_finding in result.findings:
        finding = with_replaced_waiting(new_finding, is_suite=result.is_suite)
        yield rule_cause(finding), finding_symptom(str(result.trial), finding)
    trial = result.trial
    # A test runner may print what a failed test compares.
    if result.prints_token and not failed_tests(result.printed_lines):
        yield CAUSE_TEXTS["prints-token"], Symptom(str(trial), TOKEN_IN_OUTPUT)
    if result.additional_replays and _has_failed_operation(result):
        count = count_text(result.additional_replays, "replay")
        message = f"{count} of a request whose operation had failed"
        yield CAUSE_TEXTS["failed-operation-replayed"], Symptom(str(trial), message)
    if result.restarted_operations:
        count = count_text(result.restarted_operations, "operation")
        message = f"{count} started again after a failure whose error.retryable is false"
        yield CAUSE_TEXTS["restarts-failed-operation"], Symptom(str(trial), message)
    if result.fast_attempts >= _TOO_FAST_ATTEMPTS:
        message = (
            f"{result.fast_attempts} attempts at one request, with hardly a pause between them"
        )
        without_pause = CAUSE_TEXTS["retries-without-pause"]
        if result.is_suite:
            without_pause = replace(without_pause, severity="note")
            message = f"{message}. {REPLACED_WAITING}"
        yield without_pause, Symptom(str(trial), message)
    if result.repeated_items and not result.exit_code:
        yield CAUSE_TEXTS["counts-items-twice"], Symptom(str(trial), result.repeated_items)
    if result.missing_items and not result.exit_code:
        yield CAUSE_TEXTS["failed-page-ends-list"], Symptom(str(trial), result.missing_items)
    if result.early_end and result.is_fine:
        yield CAUSE_TEXTS["ends-in-the-middle"], Symptom(str(trial), result.early_end)
    if not follows_operations and _claims_failed_operation(result):
        end = "had not ended" if result.has_unfinished_operation else "did not succeed"
        message = _UNNOTICED_FAILURE.format(end)
        yield CAUSE_TEXTS[_claim_about_operation(result)], Symptom(str(trial), message)
    elif _fails_by_invalid_request(result):
        symptom = replace(_verdict_symptom(result, ""), message=result.invalid_request)
        yield CAUSE_TEXTS["sends-invalid-request"], symptom
    elif isinstance(trial, FaultTrial):
        text = cause_at_point(trial.point, result)
        if text is not None:
            yield text, _verdict_symptom(result, trial.point.request)
    elif isinstance(trial, AlteredTrial):
        # An inverted boolean has a different meaning, so a client may react to it.
        if result.is_allowed and trial.change != "set" and is_varied_failure(result):
            yield cause_of_alteration(trial), _verdict_symptom(result, "")
        elif _ignores_revocation(trial, result):
            yield CAUSE_TEXTS["ignores-revocation"], Symptom(str(trial), _IGNORED_REVOCATION)
        elif result.is_allowed and result.is_fine:
            yield from _order_symptoms(trial, result)
    elif isinstance(trial, PhasesTrial) and is_varied_failure(result):
        yield CAUSE_TEXTS[_PHASES_CAUSES[result.verdict]], _verdict_symptom(result, "")
    elif isinstance(trial, VariedTrial) and is_varied_failure(result):
        for varied_text in causes_of_points(trial.points):
            yield _for_page_size(varied_text, result), _verdict_symptom(result, "")
    elif result.stopped_at_page:
        message = f"it stopped at the page of {result.stopped_at_page}, which has a next_cursor"
        text = VARIATION_CAUSES[_FULL_PAGES].text
        yield text, Symptom(str(trial), message, request=result.stopped_at_page)


def _order_symptoms(
    trial: AlteredTrial, result: TrialResult
) -> Iterator[tuple[CauseText, Symptom]]:
    """Yield what a run shows that succeeds although a list arrived in reverse."""
    if result.omitted_request:
        message = f"it does not send {result.omitted_request}"
        yield cause_of_alteration(trial), Symptom(str(trial), message)
    elif result.omitted_line:
        message = f"it does not print {_brief(result.omitted_line)!r}"
        yield CAUSE_TEXTS["picks-by-position"], Symptom(str(trial), message, result.output)


def _brief(line: str) -> str:
    """Return a printed line, shortened if it is long."""
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _ignores_revocation(trial: AlteredTrial, result: TrialResult) -> bool:
    """Return whether a client does the same with an authorization that is shown as revoked."""
    is_revoked = (trial.call, trial.change, trial.part) == (
        "get_dns_authorization",
        "set",
        "/status",
    )
    return is_revoked and result.hit and result.is_fine and result.effect == "ignores"


def shown_causes(result: TrialResult) -> tuple[str, ...]:
    """Return the ids of the causes that a trial shows apart from its conduct findings."""
    symptoms = symptoms_of(replace(result, findings=()))
    return tuple(dict.fromkeys(text.id for text, _ in symptoms))


def _fails_by_invalid_request(result: TrialResult) -> bool:
    """Return whether a client failed because it sent an invalid request.

    With varied responses, only an invalid header counts. The rest of a request may repeat what the
    responses say, and then the variation explains the failure better.
    """
    if result.verdict != "failed" or not result.invalid_request:
        return False
    return isinstance(result.trial, FaultTrial) or " header " in result.invalid_request


def _claims_failed_operation(result: TrialResult) -> bool:
    """Return whether a client exits with 0 although its operation never succeeds."""
    return _has_failed_operation(result) and not result.exit_code and result.verdict != "hung"


def _claim_about_operation(result: TrialResult) -> str:
    """Return the cause of a client that claims success, and does not poll to the end in its clean run."""
    has_stopped_polling = result.poll_count and result.has_unfinished_operation
    return "unfinished-operation-is-success" if has_stopped_polling else "accepted-is-done"


def _has_failed_operation(result: TrialResult) -> bool:
    """Return whether the trial's fault made an operation end without success."""
    trial = result.trial
    if not isinstance(trial, FaultTrial):
        return False
    return result.hit and trial.point.fault in FAILED_OPERATIONS


def is_varied_failure(result: TrialResult) -> bool:
    """Return whether a run with varied or altered responses ended differently from the clean run.

    A run that had to be stopped proves nothing, because the client may have waited as long as a
    response said.
    """
    return not result.is_fine and result.verdict not in ("unclear", "misbehaved", "hung")


def waits_endlessly(result: TrialResult) -> bool:
    """Return whether a client was still waiting for an operation that never ends.

    It waits with pauses, so it may have a deadline that is longer than the trial.
    """
    trial = result.trial
    is_stuck = isinstance(trial, FaultTrial) and trial.point.fault == "stick"
    return is_stuck and result.verdict == "waits"


def finding_symptom(trial: str, finding: ConductFinding) -> Symptom:
    """Return the symptom of a broken conduct rule in a trial, which is given by its text."""
    noun = "request" if len(finding.requests) == 1 and not finding.more_requests else "requests"
    message = f"{noun} {request_numbers(finding)}: {finding.message}"
    return Symptom(trial, message)


def _verdict_symptom(result: TrialResult, request: str) -> Symptom:
    tests = failed_tests(result.printed_lines)
    return Symptom(
        str(result.trial), _message(result), result.output, request, tests, result.verdict
    )


def _for_page_size(text: CauseText, result: TrialResult) -> CauseText:
    """Return the text of a cause. If the client fails at a page that is not full, it expects a full one.

    A client that takes such a page for the last one succeeds with fewer items, or misses some.
    """
    is_at_page = text.id == _FULL_PAGES and result.verdict == "failed"
    if is_at_page and not result.stopped_at_page and not result.misses_items:
        return VARIATION_CAUSES[_EXACT_PAGE_SIZE].text
    return text


def _message(result: TrialResult) -> str:
    """Return what the client did. A report describes the trial before it, so that is left out here."""
    description = trial_description(result.trial)
    reasons = tuple(reason for reason in result.reasons if reason != description)
    shortened = replace(result, reasons=reasons)
    verdict_text = _VERDICT_TEXTS.get(result.verdict)
    if verdict_text is None:
        return shortened.message
    return "; ".join([verdict_text, *reasons])
