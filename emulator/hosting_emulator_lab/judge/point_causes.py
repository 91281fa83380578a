"""Finds the cause that the verdict on the trial of a fault shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, CauseText
from hosting_emulator_lab.judge.fault_points import FaultPoint, kind_of
from hosting_emulator_lab.judge.judged_run import NO_VALUE
from hosting_emulator_lab.judge.lasting_effects import LastingEffect
from hosting_emulator_lab.judge.lasting_verdicts import crash_line
from hosting_emulator_lab.judge.retry_quotes import retry_quote
from hosting_emulator_lab.judge.trial_results import TrialResult

#: The lasting effects that make an operation end without success.
FAILED_OPERATIONS = ("fail", "cancel", "exhaust", "fail_retryable")
#: The contract's sentence about a part that may be absent, and its source, by the fault that
#: removes the part.
_ABSENCES = {
    "empty_list": (
        "items (array of Deployment) and next_cursor (string, opaque continuation cursor, "
        "characters A-Z a-z 0-9 _ -).",
        "contract, section Page of deployments",
    ),
    "no_zone": (
        "null when status is not_authorized",
        "contract, section Resources, DnsAuthorization",
    ),
}
#: The causes of verdicts that have the same meaning for every fault.
_CAUSES_OF_VERDICTS = {
    "doubled": "done-twice",
    "differs": "result-differs",
    "crashed": "crashes",
    "repeated": "retries-in-vain",
}
#: The causes whose contract sentence depends on the request that the client does not retry.
_NOT_RETRIED = (
    "gives-up-at-passing-failure",
    "fails-after-recovery",
    "waits-without-limit",
    "reads-body-without-limit",
)
#: The causes that are only notes if nothing but the output shows whether the client is wrong.
_SHOWN_BY_OUTPUT = ("absence-ignored", "key-value-lost")
#: The causes that are about an absent part of a response.
_ABOUT_ABSENCE = ("absence-ignored", "crashes-at-absent-value")


def cause_at_point(point: FaultPoint, result: TrialResult) -> CauseText | None:
    """Return the cause that a verdict on a fault point shows, or None if there is none.

    The text quotes the sentence of the contract, or of a standard, that is about the point.
    """
    cause_id = _cause_of_point(point, result)
    if not cause_id:
        return None
    return _for_point(CAUSE_TEXTS[cause_id], point, result)


def _for_point(text: CauseText, point: FaultPoint, result: TrialResult) -> CauseText:
    """Return the text of a cause with the sentence of the contract that is about a point."""
    if text.id in _ABOUT_ABSENCE and point.fault in _ABSENCES:
        because, place = _ABSENCES[point.fault]
        text = replace(text, because=because, place=place)
    if text.id in _NOT_RETRIED:
        quote = retry_quote(point)
        text = replace(text, because=quote.sentence, place=quote.place)
    if text.id in _SHOWN_BY_OUTPUT and result.verdict == "unclear":
        text = replace(text, severity="note")
    if text.id == "crashes-at-absent-value" and result.is_suite:
        # A test may need the value, and its code crashes then, not the client's.
        text = replace(text, severity="note")
    return text


def _cause_of_point(point: FaultPoint, result: TrialResult) -> str:
    """Return the id of the cause that a point's verdict shows, or an empty text if there is none."""
    if result.verdict == "failed":
        if result.is_refused_anyway:
            # A test of a refusal may fail if it gets another response.
            return ""
        if result.has_recovered:
            return "fails-after-recovery"
        if point.fault == "malformed_response":
            return "gives-up-at-unreadable-response"
        return "gives-up-at-passing-failure"
    if result.verdict == "hung" and not result.hit:
        # The run was stopped before it reached the fault, perhaps because the machine is busy.
        return ""
    if result.verdict == "hung":
        return _cause_of_hanging(point)
    if result.verdict == "doubled" and point.fault == "queued":
        return "starts-again-when-queued"
    if result.verdict == "blind success":
        if NO_VALUE in result.reasons:
            return "key-value-lost"
        if point.fault == "token_expired" and _only_reads(point):
            return "hides-expired-token"
        if point.lasting is None:
            return "refusal-is-success"
        return _claimed(point, point.lasting, result)
    if result.verdict == "unclear":
        return _cause_of_doubt(point, result)
    return _CAUSES_OF_VERDICTS.get(result.verdict, "")


def _cause_of_hanging(point: FaultPoint) -> str:
    if point.lasting is not None and point.lasting.request_end == "unfinished":
        # Even a client that polls without pauses may have a longer deadline than the trial.
        return "still-polling"
    if point.lasting is not None:
        return "never-gives-up"
    if kind_of(point.fault) == "timeout":
        return "waits-without-limit"
    if kind_of(point.fault) == "stalled_response":
        return "reads-body-without-limit"
    return "hangs"


def _cause_of_doubt(point: FaultPoint, result: TrialResult) -> str:
    """Return the cause for a run whose success only the output can show."""
    is_refused = point.lasting is not None and point.lasting.request_end == "refused"
    if not result.exit_code and is_refused and _has_dead_thread(result.printed_lines):
        return "refusal-is-success"
    if not result.exit_code and any(NO_VALUE in reason for reason in result.reasons):
        return "key-value-lost"
    if not result.exit_code and point.fault == "token_expired":
        return "hides-expired-token"
    is_altered = point.lasting is not None and point.lasting.request_end == "altered"
    if not result.exit_code:
        return "absence-ignored" if is_altered else "may-hide-failure"
    if not crash_line(result.output):
        return ""
    if point.fault in ("never_suspends", "default_suspend"):
        return "rejects-documented-value"
    return "crashes-at-absent-value" if is_altered else "crashes"


def _only_reads(point: FaultPoint) -> bool:
    return ALL_CALLS[point.call].method == "GET" and point.call != "get_operation"


def _has_dead_thread(printed_lines: Iterable[str]) -> bool:
    """Return whether an uncaught exception ended a thread, as Python and Java report it."""
    return any(line.startswith("Exception in thread ") for line in printed_lines)


def _claimed(point: FaultPoint, effect: LastingEffect, result: TrialResult) -> str:
    """Return the cause for a client that claims success under a lasting effect."""
    if point.fault == "value_lost":
        return "key-value-lost"
    if point.fault in FAILED_OPERATIONS and result.has_unfinished_operation:
        # The operation fails later, and the client has not waited for its end.
        return "unfinished-operation-is-success"
    if point.fault in FAILED_OPERATIONS:
        return "failed-operation-is-success"
    if point.fault == "nested_state":
        return "reads-nested-state"
    if effect.request_end == "altered":
        return "absence-ignored"
    if effect.request_end == "refused" and point.call == "get_operation":
        # The client cannot have seen the end of its operation.
        return "unfinished-operation-is-success"
    if effect.request_end == "refused":
        # Report less for a read, because a judge cannot see whether the client needs what it reads.
        is_read = ALL_CALLS[point.call].method == "GET"
        return "may-hide-failure" if is_read else "refusal-is-success"
    return "unfinished-operation-is-success"
