"""The verdict on the trial of a fault shows a cause, which quotes a sentence about the request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.judged_run import NO_VALUE
from hosting_emulator_lab.judge.run_results import Verdict
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import read_trial
from tests.lab.judge.test_causes import CONTRACT, causes, ids, result


def test_a_client_whose_retry_is_accepted_does_not_give_up() -> None:
    trial = "create_user_api_key#1/connection_reset/after_commit"
    recovered = result(trial, "failed", has_recovered=True)

    [cause] = causes(recovered)

    assert (cause.id, cause.severity) == ("fails-after-recovery", "note")


@pytest.mark.parametrize(
    ("trial", "verdict", "cause"),
    [
        (
            "create_user_api_key#1/connection_reset/after_commit",
            "failed",
            "gives-up-at-passing-failure",
        ),
        ("create_user_api_key#1/timeout/before_commit", "hung", "waits-without-limit"),
        (
            "create_user_api_key#1/stalled_response/before_commit",
            "hung",
            "reads-body-without-limit",
        ),
        ("create_user_api_key#1/truncate/before_commit", "hung", "hangs"),
        ("apply_project_domains#1/stick/lasting", "hung", "still-polling"),
        ("apply_project_domains#1/fail/lasting", "blind success", "failed-operation-is-success"),
        (
            "apply_project_domains#1/stick/lasting",
            "blind success",
            "unfinished-operation-is-success",
        ),
        ("apply_project_domains#1/queued/lasting", "doubled", "starts-again-when-queued"),
        (
            "apply_project_domains#1/nested_state/lasting",
            "blind success",
            "reads-nested-state",
        ),
        ("apply_project_domains#1/abort:forbidden/lasting", "blind success", "refusal-is-success"),
        ("create_user_api_key#1/value_lost/lasting", "blind success", "key-value-lost"),
        ("read_database_compute#1/database_null/lasting", "blind success", "absence-ignored"),
        ("create_user_api_key#1/connection_reset/after_commit", "doubled", "done-twice"),
        ("create_user_api_key#1/connection_reset/after_commit", "differs", "result-differs"),
        ("get_dns_authorization#1/abort:forbidden/lasting", "blind success", "may-hide-failure"),
        ("get_dns_authorization#1/abort:forbidden/lasting", "crashed", "crashes"),
        ("get_dns_authorization#1/abort:forbidden/lasting", "repeated", "retries-in-vain"),
        ("get_dns_authorization#1/abort:forbidden/lasting", "unclear", "may-hide-failure"),
        ("list_deployments#1/empty_list/lasting", "unclear", "absence-ignored"),
        ("list_deployments#1/token_expired/lasting", "unclear", "hides-expired-token"),
        ("list_deployments#1/token_expired/lasting", "blind success", "hides-expired-token"),
        (
            "apply_project_domains#1/token_expired/lasting",
            "blind success",
            "refusal-is-success",
        ),
        (
            "get_operation#1/token_expired/lasting",
            "blind success",
            "unfinished-operation-is-success",
        ),
    ],
)
def test_a_verdict_has_a_cause(trial: str, verdict: Verdict, cause: str) -> None:
    assert ids(result(trial, verdict)) == [cause]


@pytest.mark.parametrize(
    ("trial", "output", "causes_shown"),
    [
        (
            "list_deployments#1/empty_list/lasting",
            "IndexError: list index",
            ["crashes-at-absent-value"],
        ),
        ("get_dns_authorization#1/abort:forbidden/lasting", "KeyError: 'zone'", ["crashes"]),
        ("get_dns_authorization#1/abort:forbidden/lasting", "Refused: forbidden", []),
        (
            "read_database_compute#1/never_suspends/lasting",
            "json: cannot unmarshal number -1 into Go struct field of type uint32",
            ["rejects-documented-value"],
        ),
        ("read_database_compute#1/never_suspends/lasting", "prod must be suspended", []),
        (
            "read_database_compute#1/default_suspend/lasting",
            "ZeroDivisionError: division by zero",
            ["rejects-documented-value"],
        ),
    ],
)
def test_an_exit_code_counts_only_if_the_output_looks_like_a_crash(
    trial: str, output: str, causes_shown: list[str]
) -> None:
    ended = TrialResult(read_trial(trial), "unclear", (), 1, 0.5, output=(output,))
    assert ids(ended) == causes_shown


@pytest.mark.parametrize("verdict", ["survived", "gave up", "waits", "not reached"])
def test_a_verdict_that_finds_no_mistake_has_no_cause(verdict: Verdict) -> None:
    assert ids(result("create_user_api_key#1/timeout/before_commit", verdict)) == []


def test_a_lost_value_of_a_key_is_a_cause_of_its_own_under_every_fault() -> None:
    lost = result("create_user_api_key#1/truncate/after_commit", "blind success", NO_VALUE)
    assert ids(lost) == ["key-value-lost"]


def test_a_lost_value_is_only_a_note_if_the_output_may_mention_it() -> None:
    lost = result(
        "create_user_api_key#1/value_lost/lasting", "unclear", f"{NO_VALUE}; its output differs"
    )
    [cause] = causes(lost)
    assert (cause.id, cause.severity) == ("key-value-lost", "note")


def test_a_client_that_gives_up_where_it_is_refused_anyway_has_no_cause() -> None:
    """A test of a refusal fails if it gets an error page in place of the refusal."""
    failed = result(
        "create_user_api_key#1/gateway_error/before_commit", "failed", is_refused_anyway=True
    )
    assert ids(failed) == []


@pytest.mark.parametrize(
    ("trial", "quote", "place"),
    [
        (
            "list_deployments#1/empty_list/lasting",
            "items (array of Deployment) and next_cursor (string, opaque continuation cursor,"
            " characters A-Z a-z 0-9 _ -).",
            "contract, section Page of deployments",
        ),
        (
            "get_dns_authorization#1/no_zone/lasting",
            "null when status is not_authorized",
            "contract, section Resources, DnsAuthorization",
        ),
        (
            "read_database_compute#1/database_null/lasting",
            CAUSE_TEXTS["absence-ignored"].because,
            "contract, section Resources, DatabaseCompute",
        ),
    ],
)
def test_a_crash_where_a_part_is_absent_quotes_the_contract_about_that_part(
    trial: str, quote: str, place: str
) -> None:
    crash = TrialResult(read_trial(trial), "unclear", (), 1, 0.5, output=("KeyError: 'id'",))

    [cause] = causes(crash)

    shown = (cause.id, cause.text.because, cause.text.place)
    assert shown == ("crashes-at-absent-value", quote, place)
    assert quote in CONTRACT


@pytest.mark.parametrize(("is_suite", "severity"), [(False, "warning"), (True, "note")])
def test_a_crash_of_a_test_that_needs_a_value_is_a_note(is_suite: bool, severity: str) -> None:
    crash = result(
        "list_deployments#1/empty_list/lasting",
        "unclear",
        output=("TypeError: 'NoneType' object is not subscriptable",),
        is_suite=is_suite,
    )

    [cause] = causes(replace(crash, exit_code=1))

    assert (cause.id, cause.severity) == ("crashes-at-absent-value", severity)


def test_a_client_that_prints_null_for_an_absent_part_goes_on_without_it() -> None:
    trial = "get_dns_authorization#1/no_zone/lasting"
    printed = result(trial, "unclear", "it prints 'None.example'")
    requested = result(trial, "blind success", "but it requests /v1/zones/None")

    [note] = causes(printed)
    [cause] = causes(printed, requested)

    assert (note.id, note.severity) == ("absence-ignored", "note")
    assert (cause.id, cause.severity) == ("absence-ignored", "warning")


@pytest.mark.parametrize(
    ("point", "quote", "place"),
    [
        (
            "list_deployments#1/timeout/before_commit",
            "Idempotent methods are distinguished because the request can be repeated automatically "
            "if a communication failure occurs before the client is able to read the server's "
            "response.",
            "RFC 9110, section 9.2.2",
        ),
        (
            "list_deployments#1/abort:service_unavailable/before_commit",
            "retryable | boolean | yes |",
            "contract, section Errors",
        ),
        (
            "create_user_api_key#1/rate_limit/before_commit",
            "retryable | boolean | yes |",
            "contract, section Errors",
        ),
        (
            "create_user_api_key#1/truncate/after_commit",
            "After any uncertainty the same name and Idempotency-Key are reused rather than "
            "creating another token.",
            "contract, section Endpoints, operation 3",
        ),
        (
            "set_project_powered_by_flag#1/truncate/after_commit",
            "retry with same Idempotency-Key and same body | | unchanged | first result returned, "
            "no second switch",
            "contract, section States and transitions, Flag",
        ),
        (
            "initialize_managed_source#1/truncate/after_commit",
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8)",
            "contract, section Endpoints",
        ),
        (
            "apply_project_domains#1/truncate/after_commit",
            "Starts an idempotent durable operation for the exact project-derived development, "
            "production and mail hostnames (derived by the server, not supplied).",
            "contract, section Endpoints, operation 4",
        ),
        (
            "create_dev_access_ticket#1/truncate/after_commit",
            "A new ticket revokes the principal's earlier unused tickets.",
            "contract, section Endpoints, operation 7",
        ),
    ],
)
def test_a_request_that_is_not_retried_quotes_the_sentence_about_its_retry(
    point: str, quote: str, place: str
) -> None:
    gave_up = result(point, "failed")
    later = result("get_operation#1/truncate/before_commit", "failed", "another message")

    [cause] = causes(gave_up, later)

    assert (cause.id, cause.text.because, cause.text.place) == (
        "gives-up-at-passing-failure",
        quote,
        place,
    )
    assert quote in CONTRACT or place.startswith("RFC ")


@pytest.mark.parametrize(
    ("trial", "verdict", "cause"),
    [
        ("list_deployments#1/timeout/before_commit", "hung", "waits-without-limit"),
        ("list_deployments#1/stalled_response/before_commit", "hung", "reads-body-without-limit"),
    ],
)
def test_a_read_without_a_time_limit_quotes_no_sentence_about_keys(
    trial: str, verdict: Verdict, cause: str
) -> None:
    [hung] = causes(result(trial, verdict))

    assert (hung.id, hung.text.place) == (cause, "RFC 9110, section 9.2.2")


@pytest.mark.parametrize("fault", ["fail", "cancel", "exhaust", "fail_retryable"])
def test_an_operation_that_has_not_failed_yet_is_not_called_failed(fault: str) -> None:
    trial = f"apply_project_domains#1/{fault}/lasting"
    early = result(trial, "blind success", has_unfinished_operation=True, poll_count=2)
    late = result(trial, "blind success", poll_count=2)

    assert ids(early) == ["unfinished-operation-is-success"]
    assert ids(late) == ["failed-operation-is-success"]


def test_a_client_that_takes_the_refusal_of_each_poll_for_the_end_claims_success() -> None:
    refused = result("get_operation#1/abort:resource_not_found/lasting", "blind success", "no end")
    assert ids(refused) == ["unfinished-operation-is-success"]


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        (("Exception in thread Thread-1 (read):", "ApiError: 403"), "refusal-is-success"),
        (("403, going on without it",), "may-hide-failure"),
    ],
)
def test_a_client_whose_thread_dies_of_a_refusal_must_not_exit_with_0(
    output: tuple[str, ...], cause: str
) -> None:
    refused = result("list_deployments#1/abort:forbidden/lasting", "unclear", printed_lines=output)
    assert ids(refused) == [cause]
