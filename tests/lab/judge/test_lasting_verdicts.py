"""A client that meets a lasting fault must end, report the failure, and not retry in vain."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.judged_run import NO_VALUE
from hosting_emulator_lab.judge.point_verdicts import judge_point
from hosting_emulator_lab.judge.run_results import RunEnd
from hosting_emulator_lab.judge.trial_results import TrialResult
from tests.lab.judge.samples import (
    exchange,
    key_row,
    operation_row,
    requests,
    sample_clean_run,
    sample_observation,
    state,
)

FAILED_OPERATION = "apply_project_domains#1/fail/lasting"
STUCK_OPERATION = "apply_project_domains#1/stick/lasting"
FORBIDDEN_CHANGE = "create_user_api_key#1/abort:forbidden/lasting"
FORBIDDEN_READ = "list_deployments#1/abort:forbidden/lasting"
OUTAGE = "create_user_api_key#1/outage/lasting"
LOST_VALUE = "create_user_api_key#1/value_lost/lasting"
NO_ZONE = "get_dns_authorization#1/no_zone/lasting"
ONE_KEY = {"1": key_row("ci")}
TWO_KEYS = {**ONE_KEY, "2": key_row("ci")}
SUCCEEDED_OPERATION = {"1": operation_row("succeeded")}
#: The beginning of the reasons for a verdict, by point.
EFFECTS = {
    FAILED_OPERATION: "apply_project_domains#1 starts an operation that fails",
    STUCK_OPERATION: "apply_project_domains#1 starts an operation that never ends",
    FORBIDDEN_CHANGE: "create_user_api_key#1 gets forbidden every time it is sent",
    FORBIDDEN_READ: "list_deployments#1 gets forbidden every time it is sent",
    OUTAGE: "create_user_api_key#1 gets service_unavailable, and so does every later request",
    LOST_VALUE: (
        "create_user_api_key#1 creates a key whose value is lost with the response: "
        "a replay has null instead"
    ),
    NO_ZONE: "get_dns_authorization#1 shows no zone",
}
REFUSED_ONCE: dict[str, Any] = {"refusals_in_a_row": 1, "is_last_refused": True}
SUCCESS = RunEnd(0, duration_s=1, printed_lines=("done 2",))
FAILURE = RunEnd(1, duration_s=1)
HANG = RunEnd(143, hung=True, duration_s=10)


def test_a_result_tells_whether_an_operation_has_ended_and_how_often_it_was_polled() -> None:
    running = state(operations={"1": operation_row("running")})
    polls = requests("apply_project_domains", "get_operation", "get_operation")

    early = judge(FAILED_OPERATION, state=running, requests=polls)
    late = judge(FAILED_OPERATION, state=state(operations={"1": operation_row("failed")}))

    assert (early.has_unfinished_operation, early.poll_count) == (True, 2)
    assert (late.has_unfinished_operation, late.poll_count) == (False, 0)


def verdict(point: str, end: RunEnd | None = None, /, limit_s: float = 10, **overrides: Any) -> str:
    """Return the verdict on a run with a lasting fault, as `judge` reaches it."""
    return judge(point, end, limit_s=limit_s, **overrides).verdict


def judge(
    point: str,
    end: RunEnd | None = None,
    /,
    limit_s: float = 10,
    usual_lines: tuple[str, ...] | None = ("done 1",),
    **overrides: Any,
) -> TrialResult:
    """Judge a run with a lasting fault.

    By default the run succeeds, and its observation differs from the clean run's in `overrides`.
    `usual_lines` are the lines that the clean run prints, or None if they are unknown.
    """
    usual_observation = sample_observation(
        requests=(),
        state=state(operations=SUCCEEDED_OPERATION, user_api_keys=ONE_KEY),
        request_count=4,
        key_values=1,
    )
    clean_run = replace(
        sample_clean_run(usual_observation), end=RunEnd(0, printed_lines=usual_lines)
    )
    observation = replace(usual_observation, hit=True, **overrides)
    return judge_point(
        FaultPoint.read(point), end or SUCCESS, observation, clean_run, limit_s=limit_s
    )


@pytest.mark.parametrize(
    ("point", "end", "overrides", "verdict_and_reasons"),
    [
        (
            FORBIDDEN_CHANGE,
            FAILURE,
            {"state": state(operations=SUCCEEDED_OPERATION, user_api_keys=TWO_KEYS)},
            ["doubled", "2 API keys, while the clean run makes 1: 'ci' of owner in acme"],
        ),
        (
            FORBIDDEN_CHANGE,
            HANG,
            {"request_count": 40},
            [
                "hung",
                "it was still sending requests after 10 s and 40 requests, while the clean run sends 4",
            ],
        ),
        (
            STUCK_OPERATION,
            HANG,
            {"request_count": 1},
            ["waits", "it had not ended after 10 s and 1 request, while the clean run sends 4"],
        ),
        (
            STUCK_OPERATION,
            HANG,
            {"request_count": 9, "requests": requests("apply_project_domains", "get_operation")},
            [
                "waits",
                "it was still polling after 10 s and 9 requests, while the clean run sends 4",
            ],
        ),
        (
            NO_ZONE,
            SUCCESS,
            {"null_urls": frozenset(["/v1/b/null", "/v1/a/null"])},
            ["blind success", "but it requests /v1/a/null"],
        ),
        (
            FORBIDDEN_CHANGE,
            SUCCESS,
            {"state": state(operations=SUCCEEDED_OPERATION)},
            ["blind success", "0 API keys, while the clean run makes 1: 'ci' of owner in acme"],
        ),
        (
            FAILED_OPERATION,
            SUCCESS,
            {"failed_operations": Counter({"apply_project_domains of shop failed": 1})},
            [
                "blind success",
                "it did not wait for the end: apply_project_domains of shop failed",
            ],
        ),
        (
            FORBIDDEN_READ,
            SUCCESS,
            REFUSED_ONCE,
            ["blind success", "but its output is the same as when everything succeeds"],
        ),
        (
            FORBIDDEN_READ,
            RunEnd(0, printed_lines=("nothing",)),
            REFUSED_ONCE,
            ["unclear", "it exits with 0, and its output differs from the clean run's"],
        ),
        (
            OUTAGE,
            FAILURE,
            {"refusals_in_a_row": 300},
            ["repeated", "more than 20 attempts, at least 5 per second"],
        ),
        (FORBIDDEN_CHANGE, FAILURE, {"refusals_in_a_row": 3}, ["repeated", "3 attempts"]),
        (FORBIDDEN_CHANGE, RunEnd(139), {}, ["crashed", "exit code 139: signal 11"]),
        (
            FORBIDDEN_CHANGE,
            RunEnd(1, output=("Traceback", "oops: KeyError: 'id'", "bye")),
            {},
            [
                "unclear",
                "it ends with exit code 1, and seems to have crashed: KeyError: 'id'",
            ],
        ),
        (NO_ZONE, FAILURE, {}, ["unclear", "it ends with exit code 1: it gave up, or it crashed"]),
        (
            NO_ZONE,
            RunEnd(0, printed_lines=("dig www.null",)),
            {},
            ["unclear", "it prints 'www.null'"],
        ),
        (
            LOST_VALUE,
            SUCCESS,
            {"key_values": 0, "requested_keys": 1, "lost_keys": 1},
            ["blind success", NO_VALUE],
        ),
        (FORBIDDEN_CHANGE, FAILURE, {}, ["gave up"]),
        (NO_ZONE, SUCCESS, {}, ["survived"]),
    ],
)
def test_a_verdict_names_the_effect_and_the_reasons(
    point: str, end: RunEnd, overrides: dict[str, Any], verdict_and_reasons: list[str]
):
    result = judge(point, end, **overrides)

    verdict, *reasons = verdict_and_reasons
    if reasons:
        reasons.insert(0, EFFECTS[point])
    assert [result.verdict, *result.reasons] == [verdict, *reasons]


# --- Reported failures and blind success ---------------------------------------------------------


def test_a_client_that_fails_under_a_lasting_fault_gave_up():
    failed = state(operations={"1": operation_row("failed")})

    assert verdict(FAILED_OPERATION, FAILURE, state=failed) == "gave up"
    refusals: dict[str, Any] = {"refusals_in_a_row": 1, "is_last_refused": True}
    assert verdict(FORBIDDEN_CHANGE, FAILURE, **refusals) == "gave up"


@pytest.mark.parametrize(
    ("point", "operation_state"), [(FAILED_OPERATION, "failed"), (STUCK_OPERATION, "queued")]
)
def test_success_although_the_operation_did_not_succeed_is_blind_success(
    point: str, operation_state: str
):
    operations = {"1": operation_row(operation_state)}
    final_state = state(operations=operations, user_api_keys=ONE_KEY)

    assert verdict(point, state=final_state) == "blind success"


def test_an_operation_that_waits_instead_of_failing_was_not_repeated():
    # given a suite in which one operation succeeds, and another fails as its test expects
    clean_operations = {"1": operation_row("succeeded"), "2": operation_row("failed")}
    clean_observation = sample_observation(requests=(), state=state(operations=clean_operations))
    clean_run = sample_clean_run(clean_observation)
    waiting = {"1": operation_row("queued"), "2": operation_row("queued")}
    verdicts = []

    # when both operations wait, and when the client also starts a third one
    for operations in (waiting, {**waiting, "3": operation_row("queued")}):
        observation = replace(clean_observation, hit=True, state=state(operations=operations))
        point = FaultPoint.read("apply_project_domains#1/blocked/lasting")
        result = judge_point(point, FAILURE, observation, clean_run, limit_s=10)
        verdicts.append(result.verdict)

    assert verdicts == ["gave up", "doubled"]


def test_success_before_the_operation_fails_is_blind_success():
    failures = Counter({"apply_project_domains of shop failed (operation_failed)": 1})

    assert verdict(FAILED_OPERATION, failed_operations=failures) == "blind success"
    assert verdict(FAILED_OPERATION, FAILURE, failed_operations=failures) == "gave up"


def test_a_refusal_that_changes_no_printed_word_is_blind_success():
    refusals: dict[str, Any] = {"refusals_in_a_row": 1, "is_last_refused": True}
    other_output = RunEnd(0, printed_lines=("no deployments to show",))

    assert verdict(FORBIDDEN_READ, **refusals) == "blind success"
    assert verdict(FORBIDDEN_READ, other_output, **refusals) == "unclear"


def test_a_client_whose_second_request_succeeds_survives():
    refusals: dict[str, Any] = {"refusals_in_a_row": 1, "is_last_refused": False}

    assert verdict(FORBIDDEN_READ, **refusals) == "survived"


def test_a_request_whose_url_contains_null_is_blind_success():
    null_urls = frozenset({"/v1/projects/null/edge-dns"})

    assert verdict(NO_ZONE, null_urls=null_urls) == "blind success"


def test_repeating_a_failed_operation_is_not_doubled():
    failed_twice = {"1": operation_row("failed"), "2": operation_row("failed")}
    unfinished = {"1": operation_row("running"), "2": operation_row("queued")}

    assert verdict(FAILED_OPERATION, FAILURE, state=state(operations=failed_twice)) == "gave up"
    assert verdict(STUCK_OPERATION, FAILURE, state=state(operations=unfinished)) == "doubled"


# --- Retries and polls ---------------------------------------------------------------------------


def test_many_retries_without_pauses_are_repeated():
    def verdict_on(attempts: int, **overrides: Any) -> str:
        refusals: dict[str, Any] = {"refusals_in_a_row": attempts, "is_last_refused": True}
        return verdict(OUTAGE, FAILURE, **refusals, **overrides)

    assert verdict_on(20) == "repeated"
    assert verdict_on(19) == "gave up"
    assert verdict_on(20, world_time_s=4) == "gave up"
    # A client that advances the clock of its world has waited, too.
    assert verdict_on(300, world_time_s=9000) == "gave up"


@pytest.mark.parametrize(
    ("point", "expected_verdict"),
    [(FORBIDDEN_CHANGE, "blind success"), (FORBIDDEN_READ, "unclear")],
)
def test_if_the_usual_output_is_unknown_only_a_read_can_have_been_noticed(
    point: str, expected_verdict: str
):
    observation = sample_observation(hit=True, refusals_in_a_row=1, is_last_refused=True)

    result = judge_point(
        FaultPoint.read(point), RunEnd(0), observation, sample_clean_run(), limit_s=10
    )

    assert result.verdict == expected_verdict


@pytest.mark.parametrize(("refusals", "expected_verdict"), [(5, "gave up"), (6, "repeated")])
def test_two_usual_requests_may_be_refused_twice_as_often(refusals: int, expected_verdict: str):
    clean_run = sample_clean_run(
        sample_observation(requests=requests("create_user_api_key", "create_user_api_key"))
    )
    observation = sample_observation(hit=True, refusals_in_a_row=refusals)
    point = FaultPoint.read(FORBIDDEN_CHANGE)

    result = judge_point(point, FAILURE, observation, clean_run, limit_s=10)

    assert result.verdict == expected_verdict


def test_a_test_that_fails_gave_up_whatever_it_prints():
    end = RunEnd(1, output=("KeyError: 'id'",), failure_text="the test fails")

    assert verdict(FORBIDDEN_CHANGE, end) == "gave up"


def test_three_attempts_after_a_final_refusal_are_repeated_and_two_are_not():
    assert verdict(FORBIDDEN_CHANGE, FAILURE, refusals_in_a_row=2) == "gave up"
    assert verdict(FORBIDDEN_CHANGE, FAILURE, refusals_in_a_row=3) == "repeated"


@pytest.mark.parametrize("fault", ["outage", "limited"])
def test_a_temporary_refusal_may_be_retried_with_pauses(fault: str):
    point = f"create_user_api_key#1/{fault}/lasting"
    findings = ("retried-too-soon: Retried too soon",)

    assert verdict(point, FAILURE, refusals_in_a_row=6) == "gave up"
    assert verdict(point, FAILURE, refusals_in_a_row=6, conduct=findings) == "repeated"


@pytest.mark.parametrize(
    ("request_count", "limit_s", "expected_verdict"),
    [
        (9, 10, "waits"),
        # The client may have a time limit of two minutes.
        (40, 10, "waits"),
        (54, 10, "waits"),
        (55, 10, "hung"),
        (40, 150, "waits"),
        (40, 151, "hung"),
    ],
)
def test_a_patient_client_waits_until_it_polls_too_often_or_too_long(
    request_count: int, limit_s: float, expected_verdict: str
):
    assert verdict(STUCK_OPERATION, HANG, limit_s, request_count=request_count) == expected_verdict


def test_a_client_that_is_ended_because_it_polls_without_end_is_hung():
    end = replace(HANG, duration_s=6.04, sent_too_much=True)
    result = judge(STUCK_OPERATION, end, 55, request_count=5001)

    assert result.verdict == "hung"
    assert "after 6 s and 5,001 requests" in result.reasons[-1]


def test_waiting_after_an_end_or_a_final_refusal_is_hung_unless_the_client_pauses():
    findings = ("polled-after-end: Polled an operation",)

    assert verdict(FORBIDDEN_CHANGE, HANG, request_count=4 + 12) == "hung"
    assert verdict(FORBIDDEN_CHANGE, HANG, request_count=4 + 11) == "waits"
    assert verdict(STUCK_OPERATION, HANG, request_count=4 + 12, conduct=findings) == "hung"
    assert verdict(OUTAGE, HANG, request_count=4 + 12, conduct=findings) == "hung"
    assert verdict(OUTAGE, HANG, request_count=4 + 12) == "waits"


# --- Output and exit codes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected_verdict"),
    [
        ("dig www.null", "unclear"),
        ("https://undefined/", "unclear"),
        ("zone null, none; not there/null.", "survived"),
        ('{"zone": null}', "survived"),
    ],
)
def test_null_inside_a_printed_name_is_unclear(line: str, expected_verdict: str):
    assert verdict(NO_ZONE, RunEnd(0, printed_lines=(line,))) == expected_verdict


@pytest.mark.parametrize(
    ("usual_lines", "expected_verdict", "reasons"),
    [
        (("dig www.null",), "survived", ()),
        (None, "unclear", ("it prints 'www.null'",)),
    ],
)
def test_a_name_with_null_is_in_doubt_unless_the_clean_run_prints_it_too(
    usual_lines: tuple[str, ...] | None, expected_verdict: str, reasons: tuple[str, ...]
):
    end = RunEnd(0, printed_lines=("looking for www.null",))

    result = judge(NO_ZONE, end, usual_lines=usual_lines)

    assert result.verdict == expected_verdict
    assert result.reasons[1:] == reasons


@pytest.mark.parametrize(
    ("line", "expected_verdict"),
    [
        ("KeyError: 'id'", "unclear"),
        ("TypeError: Cannot read properties of null (reading 'min_cu')", "unclear"),
        ("panic: runtime error: invalid memory address", "unclear"),
        ("RuntimeError: the operation failed", "gave up"),
        ("TypeError: fetch failed", "gave up"),
        ("urllib.error.HTTPError: HTTP Error 403: Forbidden", "gave up"),
    ],
)
def test_output_that_looks_like_a_crash_is_unclear(line: str, expected_verdict: str):
    end = RunEnd(1, output=("Traceback", line))

    assert verdict(FORBIDDEN_CHANGE, end) == expected_verdict


@pytest.mark.parametrize(
    ("exit_code", "expected_verdict"),
    [
        (1, "gave up"),
        (128, "gave up"),
        (129, "crashed"),
        (139, "crashed"),
        (192, "crashed"),
        (193, "gave up"),
    ],
)
def test_a_program_that_is_killed_by_a_signal_crashed(exit_code: int, expected_verdict: str):
    assert verdict(FORBIDDEN_CHANGE, RunEnd(exit_code, output=("bye",))) == expected_verdict


def test_another_exit_code_after_a_complete_response_is_unclear():
    assert verdict(NO_ZONE, FAILURE) == "unclear"


# --- The value of an API key ---------------------------------------------------------------------


def test_a_key_that_replaces_a_lost_value_is_not_doubled():
    two_keys = state(operations=SUCCEEDED_OPERATION, user_api_keys=TWO_KEYS)

    assert verdict(LOST_VALUE, key_values=0, requested_keys=1, lost_keys=1) == "blind success"
    assert verdict(LOST_VALUE, state=two_keys, lost_keys=1) == "survived"
    assert verdict(LOST_VALUE, state=two_keys, lost_keys=0) == "doubled"
    assert verdict(LOST_VALUE, FAILURE, key_values=0, lost_keys=1) == "gave up"


def test_a_lost_value_is_blind_success_if_the_usual_output_is_unknown():
    lost: dict[str, Any] = {"key_values": 0, "requested_keys": 1, "lost_keys": 1}

    assert judge(LOST_VALUE, usual_lines=None, **lost).verdict == "blind success"


@pytest.mark.parametrize(("reads", "expected_verdict"), [(0, "unclear"), (1, "blind success")])
def test_a_command_that_omits_what_it_does_with_the_value_may_have_noticed_the_loss(
    reads: int, expected_verdict: str
):
    """A test that needs the value may skip the rest."""
    creation = exchange("create_user_api_key", 201)
    read = exchange("list_deployments", n=2)
    clean_observation = sample_observation(
        exchanges=(creation, read), state=state(user_api_keys=ONE_KEY), key_values=1
    )
    clean_run = sample_clean_run(clean_observation)
    observation = replace(
        clean_observation,
        exchanges=(creation, creation, *[read] * reads),
        hit=True,
        key_values=0,
        requested_keys=1,
        lost_keys=1,
    )

    result = judge_point(FaultPoint.read(LOST_VALUE), RunEnd(0), observation, clean_run, limit_s=10)

    assert result.verdict == expected_verdict


@pytest.mark.parametrize(
    ("first_response", "expected_verdict"),
    [
        ({}, "unclear"),
        ({"lost": "connection_reset"}, "blind success"),
        ({"idempotency_key": "another-key"}, "blind success"),
    ],
)
def test_a_command_that_asks_for_a_replay_of_a_received_response_may_need_no_value(
    first_response: dict[str, Any], expected_verdict: str
):
    """A test of replays sends the same request twice, and may never use the value."""
    call = "create_user_api_key"
    first = exchange(call, 201, **{"idempotency_key": "key-1", **first_response})
    replay = exchange(call, 201, n=2, idempotency_key="key-1", replayed=True)
    clean_observation = sample_observation(
        requests=number_requests([first, replay]),
        state=state(user_api_keys=ONE_KEY),
        key_values=1,
    )
    clean_run = sample_clean_run(clean_observation)
    observation = replace(clean_observation, hit=True, key_values=0, requested_keys=1, lost_keys=1)

    result = judge_point(FaultPoint.read(LOST_VALUE), RunEnd(0), observation, clean_run, limit_s=10)

    assert result.verdict == expected_verdict


@pytest.mark.parametrize(
    ("lines", "expected_verdict"),
    [
        (("KEY=None…", "done"), "blind success"),
        (("KEY=None…", "revoke this key", "done"), "unclear"),
        (("KEY=None (lost)", "done"), "unclear"),
        (("no key: None…", "done"), "unclear"),
    ],
)
def test_null_in_place_of_the_value_shows_that_a_client_did_not_notice_the_loss(
    lines: tuple[str, ...], expected_verdict: str
):
    clean_observation = sample_observation(
        requests=(), state=state(user_api_keys=ONE_KEY), key_values=1
    )
    clean_end = RunEnd(0, printed_lines=("KEY=secret…", "done"))
    clean_run = replace(sample_clean_run(clean_observation), end=clean_end)
    observation = replace(clean_observation, hit=True, key_values=0, requested_keys=1, lost_keys=1)
    end = RunEnd(0, duration_s=1, printed_lines=lines)

    result = judge_point(FaultPoint.read(LOST_VALUE), end, observation, clean_run, limit_s=10)

    assert result.verdict == expected_verdict


@pytest.mark.parametrize(
    ("line", "expected_verdict"),
    [
        ("done 7", "blind success"),
        ("done None", "blind success"),
        ("the value is stored", "unclear"),
        ("replay: secret saved", "unclear"),
        ("the value of key K1 was lost: revoke it", "unclear"),
    ],
)
def test_printed_words_never_turn_a_lost_value_into_survival(line: str, expected_verdict: str):
    end = RunEnd(0, printed_lines=(line,))

    assert verdict(LOST_VALUE, end, key_values=0, requested_keys=1, lost_keys=1) == expected_verdict


@pytest.mark.parametrize(
    ("lines", "expected_verdict"),
    [
        (("flag hidden",), "blind success"),
        (("HTTP 409", "flag hidden"), "blind success"),
        (("the flag must stay",), "unclear"),
    ],
)
def test_a_client_that_reports_a_conflict_in_place_of_its_success_may_have_noticed_it(
    lines: tuple[str, ...], expected_verdict: str
):
    clean_observation = sample_observation(requests=(), state=state(user_api_keys=ONE_KEY))
    clean_end = RunEnd(0, printed_lines=("flag hidden",))
    clean_run = replace(sample_clean_run(clean_observation), end=clean_end)
    observation = replace(
        clean_observation, hit=True, state=state(), refusals_in_a_row=1, is_last_refused=True
    )
    end = RunEnd(0, duration_s=1, printed_lines=lines)

    results = {
        code: judge_point(
            FaultPoint.read(f"set_project_powered_by_flag#1/abort:{code}/lasting"),
            end,
            observation,
            clean_run,
            limit_s=10,
        )
        for code in ("powered_by_flag_required", "forbidden", "idempotency_key_reused")
    }

    assert results["powered_by_flag_required"].verdict == expected_verdict
    assert results["forbidden"].verdict == "blind success"
    # This conflict says nothing about the project.
    assert results["idempotency_key_reused"].verdict == "blind success"
