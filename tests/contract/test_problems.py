"""The table of problem codes is complete, consistent and readable; and the exception `Refused`."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from hosting_emulator.contract.problem_table import BY_FAULT_ONLY
from hosting_emulator.contract.problems import PROBLEMS, Refused
from tests.support.response_checks import CODES

#: The codes that calls produce. All others need a fault.
PRODUCED = {
    "invalid_request",
    "unauthenticated",
    "forbidden",
    "organization_required",
    "resource_not_found",
    "idempotency_key_reused",
    "etag_mismatch",
    "payload_too_large",
    "rate_limited",
    "powered_by_flag_required",
    "interactive_login_required",
    "api_key_permissions_unavailable",
    "service_unavailable",
    "insufficient_organization_credits",
    "paid_plan_required",
}

#: The titles that do not repeat the words of their code.
TITLES_IN_OTHER_WORDS = {
    "unauthenticated": "Not authenticated",
    "etag_mismatch": "Version does not match",
    "promotion_invalid_target": "Promotion target is not valid",
    "migration_filename_noncanonical": "Migration file name is not canonical",
    "environment_secret_mutation_blocked": "Environment secret cannot be changed",
    "project_handle_invalid": "Project handle is not valid",
    "project_rename_blocked": "Project cannot be renamed",
    "insufficient_organization_credits": "Not enough credits",
    "billing_purchase_conflict": "Purchase conflict",
    "billing_recharge_conflict": "Recharge conflict",
}


def test_the_table_holds_exactly_the_contracts_codes_in_its_order() -> None:
    assert list(PROBLEMS) == CODES
    assert all(PROBLEMS[code].code == code for code in CODES)


def test_texts_are_whole_sentences_and_titles_are_titles() -> None:
    for problem in PROBLEMS.values():
        for text in (problem.suggested_action, problem.meaning, problem.when, problem.advice):
            assert text.endswith("."), text
            assert text[0].isupper() or text.startswith("`"), text
            assert "  " not in text
            assert text.count("`") % 2 == 0, text
        assert problem.title[0].isupper()
        assert not problem.title.endswith(".")
        assert (
            "`" not in problem.title + problem.suggested_action
        )  # both go on the wire as they are


@pytest.mark.parametrize("code", PROBLEMS)
def test_the_detail_is_the_first_sentence_of_the_meaning_as_plain_text(code: str) -> None:
    problem = PROBLEMS[code]
    detail = problem.detail

    assert detail[0].isupper()
    assert detail.endswith(".")
    assert ". " not in detail
    assert "`" not in detail
    assert detail[1:] in problem.meaning


@pytest.mark.parametrize("code", PROBLEMS)
def test_a_title_contains_the_words_of_its_code(code: str) -> None:
    title = PROBLEMS[code].title

    if code in TITLES_IN_OTHER_WORDS:
        assert title == TITLES_IN_OTHER_WORDS[code]
    else:
        words = re.findall("[a-z]+", title.lower())
        assert set(code.split("_")) <= set(words)


def test_slugs_are_unique_and_have_no_underscore() -> None:
    slugs = {problem.slug for problem in PROBLEMS.values()}

    assert len(slugs) == len(PROBLEMS)
    assert not any("_" in slug for slug in slugs)
    assert PROBLEMS["idempotency_key_reused"].slug == "idempotency-key-reused"


@pytest.mark.parametrize("attribute", ["title", "meaning", "advice", "when"])
def test_no_two_codes_have_the_same_explanation(attribute: str) -> None:
    texts = [
        getattr(problem, attribute)
        for problem in PROBLEMS.values()
        if attribute != "when" or not problem.by_fault_only
    ]

    assert len(set(texts)) == len(texts)


def test_values_that_the_contract_fixes_are_marked_and_right() -> None:
    specified = {problem.code: problem for problem in PROBLEMS.values() if problem.specified}

    assert specified.keys() == {"resource_not_found", "idempotency_key_reused"}
    missing = specified["resource_not_found"]
    reused = specified["idempotency_key_reused"]
    assert (missing.status, missing.retryable) == (404, False)
    assert missing.specified == {"status", "retryable"}
    assert (reused.status, reused.retryable) == (409, False)
    assert reused.suggested_action.lower() == "retry with a new key."
    assert reused.specified == {"status", "retryable", "suggested_action"}


@pytest.mark.parametrize(
    ("status", "codes"),
    [
        (401, {"unauthenticated"}),
        (403, {"forbidden", "organization_required", "interactive_login_required"}),
        (404, {"resource_not_found"}),
        (413, {"payload_too_large"}),
        (429, {"rate_limited", "database_access_limit"}),
        (
            402,
            {
                "insufficient_organization_credits",
                "paid_plan_required",
                "project_budget_exceeded",
                "compute_performance_paid_required",
            },
        ),
        (
            503,
            {
                *(code for code in CODES if code.endswith("_unavailable")),
                "api_key_creation_uncertain",
            },
        ),
    ],
)
def test_every_code_has_the_status_of_its_group(status: int, codes: set[str]) -> None:
    assert {code for code, problem in PROBLEMS.items() if problem.status == status} == codes


def test_unavailable_and_rate_limited_codes_are_retryable() -> None:
    for problem in PROBLEMS.values():
        if problem.status in {429, 503}:
            assert problem.retryable, problem.code
        elif problem.retryable:
            assert problem.status == 409, problem.code  # it waits for something that ends by itself


def test_codes_that_only_a_fault_produces_are_marked() -> None:
    produced = {code for code, problem in PROBLEMS.items() if not problem.by_fault_only}

    assert produced == PRODUCED
    assert "fault injection" in BY_FAULT_ONLY


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PROBLEMS["forbidden"] = PROBLEMS["unauthenticated"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        PROBLEMS["forbidden"].status = 200  # type: ignore[misc]


def test_importing_the_table_is_cheap() -> None:
    heavy = "pydantic msgspec aiohttp jwt difflib"
    program = (
        "import sys, hosting_emulator.contract.problems\n"
        f"print(*(name for name in '{heavy}'.split() if name in sys.modules))"
    )

    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (process.returncode, process.stdout.strip()) == (0, ""), process.stderr


def test_a_refusal_without_a_status_overrides_no_status() -> None:
    refused = Refused("etag_mismatch", "The source is at generation 3.")

    assert refused.status is None
    assert str(refused) == "etag_mismatch: The source is at generation 3."
    assert (refused.retry_after_seconds, refused.why) == (None, None)


def test_a_refusal_may_override_the_status_and_say_more() -> None:
    refused = Refused("invalid_request", "PUT only.", status=405, why="the route knows PUT")

    assert (refused.status, refused.why) == (405, "the route knows PUT")


def test_the_reason_of_a_refusal_is_not_part_of_its_text() -> None:
    refused = Refused("forbidden", "Not allowed.", why="the key lacks dns.read")

    assert "dns.read" not in str(refused)
    assert "dns.read" not in repr(refused)


@pytest.mark.parametrize("seconds", [1, 86_400])
def test_a_retry_after_within_bounds_is_accepted(seconds: int) -> None:
    refused = Refused("rate_limited", "Slow down.", retry_after_seconds=seconds)

    assert refused.retry_after_seconds == seconds


@pytest.mark.parametrize("seconds", [-1, 0, 86_401])
def test_a_retry_after_out_of_bounds_is_refused(seconds: int) -> None:
    with pytest.raises(ValueError, match="1 to 86400"):
        Refused("rate_limited", "Slow down.", retry_after_seconds=seconds)


@pytest.mark.parametrize("status", [200, 399, 600])
def test_a_problem_status_that_is_not_an_error_is_refused(status: int) -> None:
    with pytest.raises(ValueError, match="400 to 599"):
        Refused("invalid_request", "Wrong.", status=status)


@pytest.mark.parametrize("make_copy", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_refusal_can_be_copied_and_pickled(make_copy) -> None:
    refused = Refused("rate_limited", "Slow down.", retry_after_seconds=7, why="10 in 1 s")

    copied = make_copy(refused)

    assert vars(copied) == vars(refused)
    assert str(copied) == str(refused)


@pytest.mark.parametrize("code", PROBLEMS)
def test_a_detail_contains_no_commentary_of_the_emulator(code: str) -> None:
    detail = PROBLEMS[code].detail

    assert detail[0].isupper()
    assert detail.endswith(".")
    assert not re.search(r"\b(our|contract|emulator|reading)\b|`", detail, re.IGNORECASE)
