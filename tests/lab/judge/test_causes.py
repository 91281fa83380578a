"""What several trials show is reported once, by the mistake that explains it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.sdk import ConductFinding
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, CauseText
from hosting_emulator_lab.judge.causes import ClientCause, Symptom, gather_causes, rule_cause
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.judged_run import NO_VALUE
from hosting_emulator_lab.judge.run_results import Verdict
from hosting_emulator_lab.judge.symptoms import symptoms_of
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import FaultTrial, Trial, VariedTrial, read_trial
from hosting_emulator_lab.judge.variation_causes import (
    VARIATION_CAUSES,
    causes_of_points,
    points_of_same_causes,
)
from tests.support.product_tables import variation_points

CONTRACT = (Path(__file__).parents[2] / "support" / "contract.txt").read_text(encoding="utf-8")


def finding(rule: str, severity: str = "error") -> ConductFinding:
    """Return a conduct finding about a rule."""
    values: dict[str, Any] = {
        "rule": rule,
        "severity": severity,
        "title": f"Broke {rule}",
        "message": "it did so",
        "requests": [1, 2],
        "more_requests": 0,
        "at": "2026-01-01T00:00:00.000Z",
        "because": "a sentence",
        "place": "the contract",
        "matters": "It matters.",
        "instead": "Do otherwise.",
    }
    return ConductFinding(**values)


def result(text: str, verdict: Verdict, *reasons: str, **fields: Any) -> TrialResult:
    """Return the result of a trial."""
    trial: Trial = read_trial(text)
    return TrialResult(trial, verdict, reasons, 0, 0.5, **fields)


def causes(*results: TrialResult, **seen_alone: bool) -> list[ClientCause]:
    """Return the causes that results show."""
    symptoms = [symptom for each in results for symptom in symptoms_of(each)]
    return gather_causes(symptoms, seen_alone)


def test_a_client_whose_retry_is_accepted_does_not_give_up() -> None:
    trial = "create_user_api_key#1/connection_reset/after_commit"
    recovered = result(trial, "failed", has_recovered=True)

    [cause] = causes(recovered)

    assert (cause.id, cause.severity) == ("fails-after-recovery", "note")


def ids(*results: TrialResult) -> list[str]:
    """Return the ids of the causes that results show."""
    return [cause.id for cause in causes(*results)]


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


def test_a_change_that_is_made_twice_is_explained_by_the_new_key() -> None:
    doubled = result(
        "create_user_api_key#1/connection_reset/after_commit",
        "doubled",
        findings=(finding("new-key-after-uncertainty"),),
    )
    other = result("apply_project_domains#1/connection_reset/after_commit", "doubled")
    [cause] = causes(doubled, other)
    assert cause.id == "new-key-after-uncertainty"
    assert {symptom.request for symptom in cause.symptoms} >= {
        "create_user_api_key#1",
        "apply_project_domains#1",
    }


def test_a_retry_under_a_new_name_is_one_cause_whether_the_first_request_took_effect() -> None:
    doubled = result("create_user_api_key#1/timeout/after_commit", "doubled")
    renamed = result("create_user_api_key#1/timeout/before_commit", "differs")
    elsewhere = result("set_project_powered_by_flag#1/timeout/before_commit", "differs")

    [cause] = causes(doubled, renamed)
    assert cause.id == "done-twice"
    assert [symptom.verdict for symptom in cause.symptoms] == ["doubled", "differs"]
    assert ids(doubled, renamed, elsewhere) == ["done-twice", "result-differs"]


def test_a_client_that_gives_up_where_it_is_refused_anyway_has_no_cause() -> None:
    """A test of a refusal fails if it gets an error page in place of the refusal."""
    failed = result(
        "create_user_api_key#1/gateway_error/before_commit", "failed", is_refused_anyway=True
    )
    assert ids(failed) == []


def test_a_failed_operation_that_is_asked_for_with_its_old_key_is_a_cause() -> None:
    gave_up = result("apply_project_domains#1/fail/lasting", "gave up", additional_replays=2)
    assert ids(gave_up) == ["failed-operation-replayed"]
    lost = result("apply_project_domains#1/timeout/after_commit", "survived", additional_replays=1)
    assert ids(lost) == []


def test_a_client_without_any_time_limit_needs_no_second_cause_for_the_body() -> None:
    silent = result("list_deployments#1/timeout/before_commit", "hung")
    stalled = result("list_deployments#1/stalled_response/before_commit", "hung")
    assert ids(silent, stalled) == ["waits-without-limit"]


def test_a_client_that_searches_text_for_a_state_does_not_reject_unknown_fields() -> None:
    nested = result("apply_project_domains#1/nested_state/lasting", "blind success")
    varied = result("vary/2/extra-fields", "failed")
    assert ids(nested, varied) == ["reads-nested-state"]


def test_a_client_that_stops_waiting_and_claims_success_does_not_read_a_nested_state() -> None:
    nested = result("apply_project_domains#1/nested_state/lasting", "blind success")
    stuck = result("apply_project_domains#1/stick/lasting", "blind success")
    assert ids(nested, stuck) == ["unfinished-operation-is-success"]


def test_a_merged_cause_has_the_higher_severity() -> None:
    note = rule_cause(finding("api-key-value-lost", "note"))
    symptoms = [(note, Symptom("clean", "lost"))]
    symptoms.append((CAUSE_TEXTS["key-value-lost"], Symptom("clean", "used")))
    [cause] = gather_causes(symptoms, {})
    assert (cause.id, cause.severity) == ("key-value-lost", "error")


@pytest.mark.parametrize("severities", [("error", "note"), ("note", "error")])
def test_a_cause_has_the_highest_severity_of_its_symptoms(severities: tuple[str, str]) -> None:
    symptoms = [
        (rule_cause(finding("secret-in-url", severity)), Symptom("clean", severity))
        for severity in severities
    ]
    [cause] = gather_causes(symptoms, {})
    assert (cause.severity, len(cause.symptoms)) == ("error", 2)


@pytest.mark.parametrize("verdict", ["survived", "differs", "blind success"])
def test_a_client_that_never_polls_and_claims_success_takes_accepted_for_done(
    verdict: Verdict,
) -> None:
    unfollowed = (
        rule_cause(finding("operation-not-followed", "note")),
        Symptom("clean", "not polled"),
    )
    failed = result("apply_project_domains#1/fail/lasting", verdict)
    claimed = symptoms_of(failed, follows_operations=False)
    [cause] = gather_causes([unfollowed, *claimed], {})
    assert (cause.id, cause.severity) == ("accepted-is-done", "warning")


def test_a_client_that_claims_success_under_each_failure_claims_it_always() -> None:
    claims = [
        result("apply_project_domains#1/fail/lasting", "blind success"),
        result("apply_project_domains#1/stick/lasting", "blind success"),
        result("apply_project_domains#1/abort:forbidden/lasting", "blind success"),
        result("get_dns_authorization#1/abort:forbidden/lasting", "unclear"),
    ]
    assert ids(*claims) == ["success-whatever-happens"]


def test_a_client_that_polls_and_claims_success_ignores_the_failure() -> None:
    assert ids(result("apply_project_domains#1/fail/lasting", "blind success")) == [
        "failed-operation-is-success"
    ]


def test_several_points_of_one_mistake_are_one_cause() -> None:
    points = ("accepted-status", "key-created-status")
    assert [text.id for text in causes_of_points(points)] == ["expects-one-success-status"]


def test_every_variation_point_belongs_to_exactly_one_cause() -> None:
    for point in variation_points():
        [text] = causes_of_points([point])
        assert point in points_of_same_causes([point])
        assert f"({point})" not in text.title, f"name the cause that {point} shows"


def test_a_new_variation_point_is_never_lost() -> None:
    assert causes_of_points(["brand-new"]) == [
        CauseText(
            id="depends-on-brand-new",
            severity="warning",
            title="It depends on something that the contract leaves open (brand-new).",
            matters=VARIATION_CAUSES["depends-on-order"].text.matters,
            because="The contract leaves this open.",
            place="`hosting-emulator contract variation-points`, brand-new",
            instead="Accept every response that the contract allows.",
        )
    ]


@pytest.mark.parametrize("verdict", ["survived", "hung", "unclear"])
def test_a_varied_run_without_a_failure_names_no_point(verdict: Verdict) -> None:
    assert ids(result("vary/1/extra-fields", verdict)) == []


def test_a_cause_that_no_run_showed_alone_is_only_a_note() -> None:
    failed = result("vary/1/extra-fields", "failed")
    [cause] = causes(failed, **{"rejects-unknown-field": False})
    assert (cause.severity, cause.seen_alone) == ("note", False)
    [confirmed] = causes(failed, **{"rejects-unknown-field": True})
    assert confirmed.severity == "warning"


def test_a_retry_with_the_key_of_another_change_is_one_cause() -> None:
    rules = ("key-reused-for-another-request", "new-key-after-uncertainty")
    findings = tuple(finding(rule) for rule in rules)
    both = result("create_user_api_key#1/timeout/after_commit", "survived", findings=findings)
    other = result("create_user_api_key#1/outage/lasting", "gave up", findings=(finding(rules[1]),))

    [cause] = causes(both)
    assert cause.id == rules[0]
    assert set(ids(both, other)) == set(rules)


def test_an_unfinished_operation_explains_a_different_result() -> None:
    stuck = result("apply_project_domains#1/stick/lasting", "blind success")
    cut_off = result("get_operation#1/timeout/before_commit", "differs")

    assert ids(stuck, cut_off) == ["unfinished-operation-is-success"]


def test_a_client_that_does_not_wait_does_not_depend_on_what_varies() -> None:
    stuck = result("apply_project_domains#1/stick/lasting", "blind success")
    varied = result("vary/1/progress-absent", "differs")
    failed = result("vary/1/extra-fields", "failed")

    assert ids(stuck, varied) == ["unfinished-operation-is-success"]
    assert ids(varied) == ["needs-optional-field"]
    assert set(ids(stuck, failed)) == {"unfinished-operation-is-success", "rejects-unknown-field"}


def test_a_cause_that_may_be_chance_explains_none_that_a_run_showed_alone() -> None:
    stuck = result("apply_project_domains#1/stick/lasting", "blind success")
    cut_off = result("get_operation#1/timeout/before_commit", "differs")

    seen_alone = {"unfinished-operation-is-success": False, "result-differs": True}
    severities = {cause.id: cause.severity for cause in causes(stuck, cut_off, **seen_alone)}

    assert severities == {"result-differs": "warning", "unfinished-operation-is-success": "note"}


def test_the_worst_causes_come_first_and_those_of_one_severity_in_their_usual_order() -> None:
    texts = [
        CAUSE_TEXTS["may-hide-failure"],
        rule_cause(finding("secret-in-url")),
        CAUSE_TEXTS["gives-up-at-passing-failure"],
        CAUSE_TEXTS["done-twice"],
        CAUSE_TEXTS["drops-base-path"],
    ]
    gathered = gather_causes([(text, Symptom("clean", "seen")) for text in texts], {})
    assert [cause.id for cause in gathered] == [
        "drops-base-path",
        "done-twice",
        "secret-in-url",
        "gives-up-at-passing-failure",
        "may-hide-failure",
    ]


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


@pytest.mark.parametrize("fault", ["fail", "cancel", "exhaust"])
def test_an_operation_that_has_not_failed_yet_is_not_called_failed(fault: str) -> None:
    trial = f"apply_project_domains#1/{fault}/lasting"
    early = result(trial, "blind success", has_unfinished_operation=True, poll_count=2)
    late = result(trial, "blind success", poll_count=2)

    assert ids(early) == ["unfinished-operation-is-success"]
    assert ids(late) == ["failed-operation-is-success"]


def test_a_client_that_stops_polling_has_not_treated_an_accepted_operation_as_finished() -> None:
    trial = "apply_project_domains#1/exhaust/lasting"
    early = result(trial, "blind success", has_unfinished_operation=True, poll_count=2)
    unpolled = result(trial, "blind success", has_unfinished_operation=True)

    def shown(one: TrialResult) -> list[str]:
        symptoms = symptoms_of(one, follows_operations=False)
        return [cause.id for cause in gather_causes(symptoms, {})]

    assert shown(early) == ["unfinished-operation-is-success"]
    assert shown(unpolled) == ["accepted-is-done"]


def test_a_client_that_reports_refusals_does_not_claim_success_whatever_happens() -> None:
    failed = result("apply_project_domains#1/fail/lasting", "blind success")
    stuck = result("apply_project_domains#1/stick/lasting", "blind success")

    assert ids(failed, stuck) == [
        "failed-operation-is-success",
        "unfinished-operation-is-success",
    ]


@pytest.mark.parametrize("text", CAUSE_TEXTS.values(), ids=lambda text: text.id)
def test_every_cause_quotes_the_contract_or_a_standard_word_for_word(text: CauseText) -> None:
    assert text.because in CONTRACT or text.place.startswith("RFC ")


@pytest.mark.parametrize("text", CAUSE_TEXTS.values(), ids=lambda text: text.id)
def test_every_cause_says_what_the_client_does_in_one_sentence(text: CauseText) -> None:
    assert text.title.startswith("It ")
    assert text.title.endswith(".")
    assert text.matters.endswith(".")
    assert text.instead.endswith(".")


def test_a_point_and_a_variation_keep_their_kind_of_trial() -> None:
    point = FaultPoint.read("create_user_api_key#1/timeout/before_commit")
    assert read_trial(str(point)) == FaultTrial(point)
    assert read_trial("vary/1") == VariedTrial("1")


@pytest.mark.parametrize(
    ("trial", "verdict", "cause"),
    [
        ("vary/2", "survived", "expects-full-pages"),
        ("vary/2/page-size", "failed", "expects-full-pages"),
        ("vary/2/absent-fields", "failed", "needs-unpromised-field"),
    ],
)
def test_a_client_that_fails_in_the_middle_of_a_list_does_not_take_a_page_for_the_last(
    trial: str, verdict: Verdict, cause: str
) -> None:
    assert ids(result(trial, verdict, stopped_at_page="list_deployments#1")) == [cause]


def test_a_client_that_ends_a_list_early_in_one_trial_does_not_also_expect_an_exact_page_size() -> (
    None
):
    failed = result("vary/1/page-size", "failed")
    stopped = result("vary/2", "survived", stopped_at_page="list_deployments#1")

    assert ids(failed) == ["expects-exact-page-size"]
    assert ids(failed, stopped) == ["expects-full-pages"]


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
