"""What several trials show is reported once, by the mistake that explains it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.sdk import ConductFinding
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, CauseText
from hosting_emulator_lab.judge.causes import ClientCause, Symptom, gather_causes, rule_cause
from hosting_emulator_lab.judge.fault_points import FaultPoint
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


def ids(*results: TrialResult) -> list[str]:
    """Return the ids of the causes that results show."""
    return [cause.id for cause in causes(*results)]


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
