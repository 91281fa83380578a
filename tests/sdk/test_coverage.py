"""A coverage says what clients exercised of the contract and what they did not."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.messages import CallCoverage, merge_coverage
from hosting_emulator.sdk.coverage import (
    CoverageParts,
    coverage_document,
    coverage_lines,
    read_coverage,
)
from tests.support.sample_coverage import SAMPLE_COVERAGE

NOTHING = merge_coverage([])


def test_the_text_names_exercised_and_missing_parts_within_its_width() -> None:
    lines = coverage_lines(SAMPLE_COVERAGE, width=80)
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80
    assert "calls 2 of 8: create_user_api_key, list_deployments; missing: set_project_" in text
    assert "statuses 200, 201, 409" in text
    assert "problem codes 1 of 57: idempotency_key_reused; also possible here: " in text
    assert "operation ends succeeded; missing: failed, cancelled" in text
    assert "roles reader, API key; missing: owner, maintainer" in text
    assert "pages 3 pages of deployments, 2 requested with a cursor" in text
    assert "replays 1 of 4 calls: create_user_api_key; missing: set_project_" in text


def test_the_text_counts_the_polls_of_operations() -> None:
    document = coverage_document(SAMPLE_COVERAGE)
    polls = {**document["calls"]["list_deployments"], "responses": 7}
    document["calls"]["get_operation"] = polls

    text = " ".join(" ".join(coverage_lines(read_coverage(document))).split())

    assert "; operations polled: 7 responses" in text
    assert "operations polled" not in " ".join(coverage_lines(SAMPLE_COVERAGE))


def test_the_text_of_an_empty_coverage_says_none() -> None:
    lines = coverage_lines(NOTHING)
    assert "calls             0 of 8; missing: set_project_powered_by_flag," in lines[0]
    assert "operation ends    none; missing: succeeded, failed, cancelled" in lines


def test_a_call_that_is_only_refused_is_not_exercised() -> None:
    document = coverage_document(SAMPLE_COVERAGE)
    document["calls"]["list_deployments"]["statuses"] = {"401": 3}
    parts = CoverageParts(read_coverage(document))
    assert parts.calls == ["create_user_api_key"]
    assert "list_deployments" in parts.missing_calls


def test_the_document_lists_every_missing_part_of_the_contract() -> None:
    missing = coverage_document(SAMPLE_COVERAGE)["missing"]
    assert len(missing["calls"]) == 6
    assert len(missing["problem_codes"]) == len(PROBLEMS) - 1
    assert "set_project_powered_by_flag 409" in missing["statuses"]
    assert missing["roles"] == ["owner", "maintainer"]
    assert missing["pages"] == []
    assert coverage_document(NOTHING)["missing"]["pages"] == ["following_pages"]


def test_merged_coverages_add_all_counts_and_can_be_read_from_a_document() -> None:
    merged = merge_coverage([SAMPLE_COVERAGE, NOTHING, SAMPLE_COVERAGE])
    assert merged.calls["create_user_api_key"] == CallCoverage(
        responses=6,
        statuses={"200": 2, "201": 2, "409": 2},
        codes={"idempotency_key_reused": 2},
        roles={},
        replays=2,
    )
    assert merged.calls["list_deployments"].roles == {"reader": 4, "api_key": 2}
    assert merged.operation_ends == {"succeeded": 4}
    assert (merged.pages, merged.following_pages) == (6, 4)
    assert read_coverage(coverage_document(merged)) == merged


def test_a_document_without_a_coverage_is_refused() -> None:
    with pytest.raises(ValueError, match="calls"):
        read_coverage({"findings": []})
