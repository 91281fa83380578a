"""The matrix of an exploration: it has a cell for each point, and says why a point has no result."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.exploration_matrix import exploration_matrix, short_name
from hosting_emulator_lab.judge.point_plan import plan_points
from tests.lab.judge.samples import KEY, requests, result, sample_exploration


def test_a_cell_shows_a_verdict_or_why_its_point_has_no_result():
    run_plan = plan_points(
        requests("create_user_api_key", "list_deployments"), faults=["timeout"], max_runs=1
    )
    doubled = result(f"{KEY}/timeout/after_commit", verdict="doubled")

    matrix = exploration_matrix(sample_exploration(doubled, plan=run_plan))

    statuses = {
        request_name: [[cell and cell.status for cell in pair] for pair in pairs]
        for request_name, pairs in matrix.rows.items()
    }
    assert statuses == {
        "create_user_api_key#1": [["not run", "doubled"]],
        "list_deployments#1": [["not run", "merged"]],
    }
    assert matrix.legend == [("2", "doubled"), ("=", "merged"), ("-", "not run")]


def test_a_request_whose_points_were_all_merged_has_no_row():
    run_plan = plan_points(requests(*["list_deployments"] * 3), faults=["timeout"])

    matrix = exploration_matrix(sample_exploration(plan=run_plan))

    assert list(matrix.rows) == ["list_deployments#1", "list_deployments#3"]


def test_the_column_of_service_unavailable_comes_before_those_of_other_codes():
    run_plan = plan_points(requests("list_deployments"), faults=["abort:*"])

    faults = exploration_matrix(sample_exploration(plan=run_plan)).faults

    assert faults[0] == "abort:service_unavailable"
    assert "abort:rate_limited" in faults[1:]


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("timeout", "timeout"),
        ("gateway_error", "gateway"),
        ("connection_reset", "reset"),
        ("empty_response", "empty"),
        ("malformed_response", "malformed"),
        ("slow_response", "slow"),
        ("rate_limit", "limit"),
        ("abort:service_unavailable", "503"),
        ("abort:api_key_creation_uncertain", "uncertain"),
        ("abort:forbidden", "forbidden"),
    ],
)
def test_the_heading_of_a_narrow_column_is_a_short_word_for_its_fault(fault: str, name: str):
    assert short_name(fault) == name
