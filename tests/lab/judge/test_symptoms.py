"""The result of a trial shows symptoms of causes, each with a sentence about what happened."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.judge.cause_texts import TOKEN_IN_OUTPUT
from hosting_emulator_lab.judge.causes import Symptom
from hosting_emulator_lab.judge.symptoms import symptoms_of
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import read_trial
from tests.lab.judge.test_causes import finding

RESET = "create_user_api_key#1/connection_reset/after_commit"
FAIL = "apply_project_domains#1/fail/lasting"
VARIED = "vary/1/page-size"
ALTERED = "alter/list_deployments/2xx/remove:/items/*/url"
INVERTED = "alter/set_project_powered_by_flag/2xx/set:/enabled"


def shown(trial: str, *, follows: bool = True, **fields: Any) -> list[tuple[str, Symptom]]:
    """Return the ids of the causes that a trial shows, and their symptoms. By default, it is survived."""
    symptoms = symptoms_of(trial_result(trial, **fields), follows_operations=follows)
    return [(text.id, symptom) for text, symptom in symptoms]


def trial_result(trial: str, **fields: Any) -> TrialResult:
    """Return the result of a trial that is survived by default."""
    values: dict[str, Any] = {
        "verdict": "survived",
        "reasons": (),
        "exit_code": 0,
        "duration_s": 0.5,
    }
    return TrialResult(read_trial(trial), **{**values, **fields})


@pytest.mark.parametrize(
    ("trial", "fields", "cause", "message"),
    [
        (
            RESET,
            {"findings": (finding("secret-in-url"),)},
            "secret-in-url",
            "requests #1, #2: it did so",
        ),
        (
            FAIL,
            {"additional_replays": 1},
            "failed-operation-replayed",
            "1 replay of a request whose operation had failed",
        ),
        (
            FAIL,
            {"additional_replays": 2, "exit_code": 1},
            "failed-operation-replayed",
            "2 replays of a request whose operation had failed",
        ),
        (
            FAIL,
            {"restarted_operations": 2, "exit_code": 1},
            "restarts-failed-operation",
            "2 operations started again after a failure whose error.retryable is false",
        ),
        (
            RESET,
            {"fast_attempts": 3},
            "retries-without-pause",
            "3 attempts at one request, with hardly a pause between them",
        ),
        (RESET, {"repeated_items": "11 instead of 7"}, "counts-items-twice", "11 instead of 7"),
        (RESET, {"missing_items": "4 instead of 7"}, "failed-page-ends-list", "4 instead of 7"),
        (RESET, {"prints_token": True}, "prints-token", TOKEN_IN_OUTPUT),
        (RESET, {"early_end": "it ends after a#1"}, "ends-in-the-middle", "it ends after a#1"),
        (
            FAIL,
            {"follows": False},
            "accepted-is-done",
            "it exits with code 0, although the operation that the request started did not succeed",
        ),
        (
            FAIL,
            {"follows": False, "has_unfinished_operation": True},
            "accepted-is-done",
            "it exits with code 0, although the operation that the request started had not ended",
        ),
    ],
)
def test_a_result_shows_a_cause_with_a_sentence_about_what_happened(
    trial: str, fields: dict[str, Any], cause: str, message: str
) -> None:
    assert shown(trial, **fields) == [(cause, Symptom(trial, message))]


@pytest.mark.parametrize(
    ("trial", "refusal", "cause"),
    [
        (RESET, "#4: the name has 200 characters", "sends-invalid-request"),
        (RESET, "", "gives-up-at-passing-failure"),
        (VARIED, "#4: the X-Request-Id header has 147 characters", "sends-invalid-request"),
        # The cursor of a request is what a response said, so it depends on the variation.
        (VARIED, "#4: the cursor has 12 characters", "expects-exact-page-size"),
    ],
)
def test_an_invalid_request_explains_the_failure_of_a_client(
    trial: str, refusal: str, cause: str
) -> None:
    fields: dict[str, Any] = {"verdict": "failed", "exit_code": 1, "invalid_request": refusal}

    [(shown_cause, symptom)] = shown(trial, **fields)

    assert shown_cause == cause
    assert symptom.message == refusal or cause != "sends-invalid-request"


def test_a_client_that_succeeds_after_an_invalid_request_has_corrected_it() -> None:
    assert shown(RESET, invalid_request="#4: the name has 200 characters") == []


@pytest.mark.parametrize(
    ("fields", "causes"),
    [
        ({"effect": "ignores"}, ["ignores-revocation"]),
        ({"effect": "shows"}, []),
        ({"effect": "depends"}, []),
        ({"effect": "ignores", "hit": False}, []),
        ({"effect": "ignores", "verdict": "hung"}, []),
    ],
)
def test_a_client_that_does_the_same_with_a_revoked_authorization_ignores_it(
    fields: dict[str, Any], causes: list[str]
) -> None:
    revoked = "alter/get_dns_authorization/2xx/set:/status"

    assert [cause for cause, _ in shown(revoked, **fields)] == causes


def test_a_client_may_ignore_a_part_that_is_no_authorization() -> None:
    assert shown(INVERTED, effect="ignores") == []


def test_a_test_runner_may_print_a_token_that_a_failed_test_compares() -> None:
    lines = ("FAILED test_client.py::test_it",)

    assert shown(RESET, prints_token=True, printed_lines=lines) == []


@pytest.mark.parametrize(
    ("verdict", "causes"),
    [
        ("failed", ["expects-short-operation"]),
        ("differs", ["unfinished-operation-is-success"]),
        ("doubled", ["done-twice"]),
        ("blind success", ["key-value-lost"]),
        ("survived", []),
        ("hung", []),
    ],
)
def test_an_operation_that_lasts_for_several_polls_shows_a_cause(
    verdict: str, causes: list[str]
) -> None:
    assert [cause for cause, _ in shown("phases", verdict=verdict)] == causes


def test_a_page_after_which_a_client_stops_is_the_request_of_the_symptom() -> None:
    message = "it stopped at the page of list_deployments#1, which has a next_cursor"
    symptom = Symptom("vary/1", message, request="list_deployments#1")

    assert shown("vary/1", stopped_at_page="list_deployments#1") == [
        ("expects-full-pages", symptom)
    ]


REVERSED = "alter/list_deployments/2xx/reorder:/items"


@pytest.mark.parametrize(
    ("fields", "cause", "message"),
    [
        (
            {"omitted_request": "GET /v1/operations/A as owner", "omitted_line": "latest: A"},
            "depends-on-order",
            "it does not send GET /v1/operations/A as owner",
        ),
        (
            {"omitted_line": "latest: A"},
            "picks-by-position",
            "it does not print 'latest: A'",
        ),
    ],
)
def test_a_client_that_succeeds_with_a_reversed_list_may_still_depend_on_its_order(
    fields: dict[str, Any], cause: str, message: str
) -> None:
    assert shown(REVERSED, is_allowed=True, **fields) == [(cause, Symptom(REVERSED, message))]
    assert shown(REVERSED, is_allowed=False, **fields) == []
    assert shown(REVERSED, is_allowed=True, verdict="hung", **fields) == []


def test_a_long_line_is_shortened_in_a_message() -> None:
    [(_, symptom)] = shown(REVERSED, is_allowed=True, omitted_line="x" * 500)

    assert symptom.message.endswith("xxx…'")
    assert len(symptom.message) < 200


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"verdict": "failed", "exit_code": 1}, "expects-exact-page-size"),
        ({"verdict": "failed", "exit_code": 1, "misses_items": True}, "expects-full-pages"),
        ({"verdict": "differs"}, "expects-full-pages"),
    ],
)
def test_a_client_that_fails_at_a_short_page_expects_a_full_one(
    fields: dict[str, Any], cause: str
) -> None:
    assert [id_ for id_, _ in shown(VARIED, **fields)] == [cause]


@pytest.mark.parametrize(
    ("trial", "cause", "request_name"),
    [
        (RESET, "gives-up-at-passing-failure", "create_user_api_key#1"),
        (VARIED, "expects-exact-page-size", ""),
        (ALTERED, "needs-unpromised-field", ""),
    ],
)
def test_the_symptom_of_a_verdict_has_the_output_and_the_failed_tests(
    trial: str, cause: str, request_name: str
) -> None:
    fields: dict[str, Any] = {
        "verdict": "failed",
        "reasons": ("exit code 1", "no retry"),
        "exit_code": 1,
        "output": ("bye",),
        "printed_lines": ("not ok 1 - deploys", "bye"),
        "is_allowed": True,
    }
    assert shown(trial, **fields) == [
        (
            cause,
            Symptom(
                trial,
                "failed: exit code 1; no retry",
                ("bye",),
                request_name,
                ("deploys",),
                "failed",
            ),
        )
    ]


def test_attempts_without_pauses_are_a_note_if_the_tests_may_have_replaced_the_waiting() -> None:
    suite = trial_result(RESET, fast_attempts=3, is_suite=True)
    script = trial_result(RESET, fast_attempts=3)

    assert [text.severity for text, _ in symptoms_of(suite)] == ["note"]
    assert [text.severity for text, _ in symptoms_of(script)] == ["warning"]


@pytest.mark.parametrize(
    ("trial", "fields"),
    [
        (RESET, {}),
        (RESET, {"additional_replays": 2}),
        (FAIL, {"additional_replays": 2, "hit": False}),
        (RESET, {"fast_attempts": 2}),
        (RESET, {"repeated_items": "11 instead of 7", "exit_code": 1}),
        (RESET, {"missing_items": "4 instead of 7", "exit_code": 1}),
        (FAIL, {"follows": True}),
        (FAIL, {"follows": False, "exit_code": 1}),
        (FAIL, {"follows": False, "hit": False}),
        (RESET, {"follows": False}),
        (RESET, {"verdict": "failed", "exit_code": 1, "is_refused_anyway": True}),
        (ALTERED, {"verdict": "failed", "exit_code": 1}),
        (INVERTED, {"verdict": "failed", "exit_code": 1, "is_allowed": True}),
        (RESET, {"verdict": "hung", "hit": False}),
        (FAIL, {"verdict": "hung", "hit": False}),
        (ALTERED, {"verdict": "hung", "is_allowed": True}),
        (ALTERED, {"is_allowed": True, "stopped_at_page": "list_deployments#1"}),
        (VARIED, {"verdict": "unclear"}),
        (VARIED, {"verdict": "misbehaved"}),
        (VARIED, {"verdict": "hung"}),
    ],
)
def test_a_result_without_a_mistake_shows_no_cause(trial: str, fields: dict[str, Any]) -> None:
    assert shown(trial, **fields) == []


def test_a_client_that_hangs_after_a_failed_operation_does_not_claim_success() -> None:
    hung = shown(FAIL, follows=False, verdict="hung")

    assert [cause for cause, _ in hung] == ["never-gives-up"]


def test_the_symptom_of_a_lasting_effect_does_not_repeat_what_happens_in_the_trial() -> None:
    reasons = (
        "apply_project_domains#1 starts an operation that fails",
        "operation at the end: one (in the clean run: another)",
    )
    [(_, blind)] = shown(FAIL, verdict="blind success", reasons=reasons)
    [(_, hung)] = shown(FAIL, verdict="hung", reasons=reasons, exit_code=1)

    assert blind.message == (
        "it exits with code 0; operation at the end: one (in the clean run: another)"
    )
    assert hung.message == "hung: operation at the end: one (in the clean run: another)"


def test_a_client_that_waits_with_pauses_for_what_never_comes_shows_no_cause() -> None:
    stuck = "apply_project_domains#1/stick/lasting"

    assert shown(stuck, verdict="waits") == []


@pytest.mark.parametrize("fault", ["stick", "blocked"])
def test_a_client_that_still_polls_when_the_trial_is_over_may_have_a_longer_deadline(
    fault: str,
) -> None:
    hung = shown(f"apply_project_domains#1/{fault}/lasting", verdict="hung")

    assert [cause for cause, _ in hung] == ["still-polling"]
