"""The verdict on a run with a lasting effect.

In such a run, a client is right to end with an error. It must not claim success, retry in vain or
crash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.fault_points import KEY_REUSED
from hosting_emulator_lab.judge.judged_run import ExplainedVerdict, JudgedRun
from hosting_emulator_lab.judge.lasting_effects import LastingEffect
from hosting_emulator_lab.judge.state_differences import state_differences
from hosting_emulator_lab.judge.world_summary import rows_text

#: The lasting effects that may end at any time, as far as a client can know.
_MAY_END = ("outage", "limited")
#: At least this many refused requests, at more than this rate per real second, are too many.
_MANY_ATTEMPTS = 20
_FAST_RATE = 5.0
#: At least this many refused requests for each request of the clean run count as retries. Fewer may
#: be concurrent requests, which are sent before the first refusal arrives.
_RETRIES = 3
#: A client with longer pauses than this between its requests is patient, in real seconds.
_LONG_PAUSE_S = 0.9
#: A client that waits for longer than this, in real seconds, counts as waiting forever.
_LONGEST_WAIT_S = 150.0
#: A wait is long if it lasts for so many times the duration of the clean run.
_LONG_WAIT_FACTOR = 5
#: The exit codes that say which signal ended a program.
_SIGNAL_CODES = range(129, 128 + 64 + 1)
#: Matches a word such as `null` as a part of a name or an address.
_NULL_IN_NAME = re.compile(
    r"\S*(?:\w[.@]|//)(?:null|None|undefined)\b\S*|\b(?:null|None|undefined)[.@]\w\S*"
)
#: Matches the lines that runtimes print when a program crashes. Other programs may print such lines
#: too, so a match only makes a verdict unclear.
_CRASH = re.compile(
    # Exclude the TypeError that Node's fetch raises for a broken connection.
    r"(?!TypeError: (?:fetch failed|terminated))"
    r"(?:TypeError|KeyError|AttributeError|IndexError|UnboundLocalError|NameError|ReferenceError"
    r"|ZeroDivisionError)\b.*|ValueError: (?:max|min)\(\).*|ValueError: not enough values to unpack.*"
    r"|.*'NoneType' object .*|.*Cannot read propert(?:y|ies) of (?:null|undefined).*"
    r"|panic: .*|Cannot (?:index|iterate over) .*|.*\bunbound variable|NoMethodError.*"
    r"|json: cannot unmarshal .*|invalid value: integer .*"
    r"|.*NullPointerException.*|.*nil pointer dereference.*|Segmentation fault.*"
)


def lasting_verdict(run: JudgedRun, effect: LastingEffect) -> ExplainedVerdict:
    """Judge a run that met a lasting effect."""
    verdict, reasons = _verdict(run, effect)
    if reasons:
        reasons = [f"{run.point.request} {effect.description}", *reasons]
    return verdict, reasons


def _verdict(run: JudgedRun, effect: LastingEffect) -> ExplainedVerdict:
    """Return the verdict and its reasons. The caller adds the effect to the reasons."""
    end = run.end
    # Ignore failed operations, because a client may repeat an operation that failed. Where the clean
    # run has failed operations too, and this run has the same number of operations in all, none
    # was repeated: an operation has only ended differently.
    additions = state_differences(run.observation, run.clean, include_failed=False).additions
    is_repeated = bool(additions and run.differences.additions)
    if is_repeated and effect.request_end != "altered":
        return "doubled", additions
    if end.hung and _waits_forever(run, effect):
        return "hung", [_waiting_text(run, "was still sending requests")]
    if not end.hung and not end.exit_code:
        blind_reasons = _blind_reasons(run, effect)
        if blind_reasons:
            return "blind success", blind_reasons
    attempts = _vain_attempts(run)
    if attempts:
        return "repeated", [attempts]
    if end.hung:
        return "waits", [_waiting_text(run, "had not ended")]
    if end.exit_code:
        return _failure_verdict(run, effect)
    return _success_verdict(run, effect)


def _failure_verdict(run: JudgedRun, effect: LastingEffect) -> ExplainedVerdict:
    """Judge a run that ended by itself, with another exit code than 0."""
    code = run.end.exit_code
    if code in _SIGNAL_CODES:
        return "crashed", [f"exit code {code}: signal {code - 128}"]
    # Treat a failed test as a reported failure, and not as a crash.
    if run.end.failure_text:
        return "gave up", []
    crash = crash_line(run.end.output)
    if crash:
        return "unclear", [f"it ends with exit code {code}, and seems to have crashed: {crash}"]
    if effect.request_end == "altered":
        return "unclear", [f"it ends with exit code {code}: it gave up, or it crashed"]
    return "gave up", []


def _success_verdict(run: JudgedRun, effect: LastingEffect) -> ExplainedVerdict:
    """Judge a run that succeeded, if its requests do not show a blind success."""
    if not run.differences.texts and run.lacks_value():
        return run.verdict_without_value()
    if effect.request_end == "refused" and run.observation.is_last_refused:
        return "unclear", ["it exits with 0, and its output differs from the clean run's"]
    if effect.request_end == "altered":
        name = _printed_null_name(run)
        if name:
            return "unclear", [f"it prints {name!r}"]
    return "survived", []


def _blind_reasons(run: JudgedRun, effect: LastingEffect) -> list[str]:
    """Return the reasons why a client that succeeded cannot have noticed the effect, if there are any."""
    if effect.request_end == "altered":
        urls = sorted(run.observation.null_urls - run.clean.observation.null_urls)
        return [f"but it requests {url}" for url in urls[:1]]
    if run.differences.texts:
        if _is_conflict(run.point.fault) and run.omits_usual_line():
            # The client may report the project's state in place of its success.
            return []
        return run.differences.texts
    if effect.request_end != "refused":
        return []
    failed = run.observation.failed_operations - run.clean.observation.failed_operations
    if failed:
        return [f"it did not wait for the end: {rows_text(failed)}"]
    # A read changes nothing, so only the client's output can show whether the client noticed the
    # failure.
    is_read = ALL_CALLS[run.point.call].method == "GET"
    is_output_known = run.clean.end.printed_lines is not None
    can_be_seen = is_output_known or not is_read
    if run.observation.is_last_refused and run.prints_the_same() and can_be_seen:
        return ["but its output is the same as when everything succeeds"]
    return []


def _is_conflict(fault: str) -> bool:
    """Return whether a fault refuses a request because of the project's state (409).

    Such a refusal is a possible result of a client's work. Others, such as `forbidden` or a key that
    belongs to another request, are not.
    """
    if fault == KEY_REUSED:
        return False
    code = fault.removeprefix("abort:")
    return code in PROBLEMS and PROBLEMS[code].status == 409


def _waits_forever(run: JudgedRun, effect: LastingEffect) -> bool:
    """Return whether a run that exceeded its time limit would never have ended by itself.

    If the awaited event may still happen, a client may wait longer.
    """
    additional_requests = run.observation.request_count - run.clean.observation.request_count
    rate = additional_requests / max(run.lasted_s, 0.001)
    may_happen = effect.request_end == "unfinished" or run.point.fault in _MAY_END
    if may_happen and not run.breaks_rule("polled-after-end"):
        longest_wait_s = max(_LONGEST_WAIT_S, _LONG_WAIT_FACTOR * run.clean.end.duration_s)
        return rate > _FAST_RATE or run.lasted_s > longest_wait_s
    return rate * _LONG_PAUSE_S > 1


def _waiting_text(run: JudgedRun, verb: str) -> str:
    """Describe what a client did that had to be stopped. `verb` describes a client that does not poll."""
    if run.observation.poll_count:
        verb = "was still polling"
    requests = count_text(run.observation.request_count, "request")
    usual_count = run.clean.observation.request_count
    return f"it {verb} after {run.lasted_s:g} s and {requests}, while the clean run sends {usual_count}"


def _vain_attempts(run: JudgedRun) -> str:
    """Describe how often a run retried in vain or without pauses, or return an empty string if it did not."""
    attempts = run.observation.refusals_in_a_row
    duration_s = max(run.end.duration_s, run.observation.world_time_s, 0.001)
    if attempts >= _MANY_ATTEMPTS and attempts / duration_s > _FAST_RATE:
        return f"more than {_MANY_ATTEMPTS} attempts, at least {_FAST_RATE:g} per second"
    usual_requests = [
        request for request in run.clean.observation.requests if request.call == run.point.call
    ]
    is_retried = attempts >= _RETRIES * max(1, len(usual_requests))
    # Accept retries after pauses if the effect may end at any time.
    is_in_vain = run.point.fault not in _MAY_END or run.breaks_rule("retried-too-soon")
    return f"{attempts} attempts" if is_retried and is_in_vain else ""


def crash_line(output: Iterable[str]) -> str:
    """Return the last line that looks like a crash, without the text before the match, or an empty string."""
    for line in reversed(list(output)):
        match = _CRASH.search(line)
        if match is not None:
            return match[0]
    return ""


def _printed_null_name(run: JudgedRun) -> str:
    """Return the first printed name with a word such as `null` that the clean run does not print."""
    usual_text = "\n".join(run.clean.end.printed_lines or ())
    for line in run.end.printed_lines or ():
        for match in _NULL_IN_NAME.finditer(line):
            if match[0] not in usual_text:
                return match[0]
    return ""
