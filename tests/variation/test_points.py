"""The table of variation points: each names one freedom of the contract."""

import re
from pathlib import Path

import pytest

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import CallTable
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.openapi import responses
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.variation.points import (
    ASSUMED,
    VariationRefused,
    list_points,
    read_points,
)
from hosting_emulator.variation.worlds import STATUSES, draw_assumptions, read_variation

CONTRACT = (Path(__file__).parents[1] / "support" / "contract.txt").read_text(encoding="utf-8")
CALLS: dict[str, CallSpec] = {spec.call_id: spec for spec in CallTable(DEFAULTS)}
#: What a client must know before its first request, because no response can tell it.
KNOWN_BEFOREHAND = {
    "cursor_parameter",
    "limit_parameter",
    "environment_parameter",
    "operation_path",
    "source_role",
    "domains_role",
    "dns_role",
    "deployments_role",
    "operation_role",
    "token_audience",
    "token_lifetime",
    "docs_url",
    "dev_zone",
}


#: Assumptions whose responses vary one by one, so that no value is drawn for a world.
VARIED_EACH_TIME = {
    "progress_phases",
    "reconciliation_states",
    "deployment_statuses",
    "database_states",
    "data_modes",
    "default_page_size",
    "timestamp_form",
    "request_id_on_success",
}
#: Assumptions that no seed varies, and why.
NOT_VARIED = {
    "a client would have to do something first that none does by accident": {
        "idempotency_scope",
        "idempotency_remembers",
        "idempotency_retention",
        "idempotency_in_flight",
        "source_generation",
        "request_id_invalid",
        "missing_environment",
        "zero_credits",
        "domains_plan",
    },
    "it is outside the letter": {"last_page_cursor", "listed_statuses"},
    "a suite finds its own requests and refusals by it": {
        "condition_codes",
        "key_prefix",
    },
    "it is a limit, which a suite sets where it is about limits": {
        "rate_limit",
        "body_limit_bytes",
    },
}


def test_every_assumption_is_varied_or_listed_with_a_reason():
    drawn = {name for point in ASSUMED for name in point.assumptions}
    others = set().union(*NOT_VARIED.values())

    assert not drawn & others
    assert drawn | others | KNOWN_BEFOREHAND | VARIED_EACH_TIME == set(
        DEFAULTS.__struct_fields__
    ), (
        "say in NOT_VARIED why no seed draws the assumption, or name it at a point of"
        " variation/points.py"
    )


OPERATIONS = {"initialize_managed_source", "apply_project_domains", "get_operation"}
#: The calls whose responses a point can vary; no calls mean all calls and all problems.
CALLS_OF_POINTS: dict[str, set[str]] = {
    "accepted-status": {"initialize_managed_source", "apply_project_domains"},
    "operation-replay": {"initialize_managed_source", "apply_project_domains"},
    "key-created-status": {"create_user_api_key"},
    "key-replayed-status": {"create_user_api_key"},
    "permission-names": {"create_user_api_key"},
    "ticket-created-status": {"create_dev_access_ticket"},
    "deployment-order": {"list_deployments"},
    "page-size": {"list_deployments"},
    "cursor-form": {"list_deployments"},
    "unknown-deployment-status": {"list_deployments"},
    "lifecycle-longer": OPERATIONS,
    "starts-running": OPERATIONS,
    "progress-absent": OPERATIONS,
    "unknown-phase": OPERATIONS,
    "unknown-reconciliation-state": OPERATIONS,
    "unknown-error-code": OPERATIONS,
    "result-content": OPERATIONS,
    "next-poll": OPERATIONS,
    "flag-reenabled": {"set_project_powered_by_flag"},
    "unknown-body-fields": {"initialize_managed_source", "create_user_api_key"},
    "unexpected-body": {name for name, spec in CALLS.items() if spec.body is None},
    "id-order": OPERATIONS | {"list_deployments"},
    "scope-order": {"get_dns_authorization"},
    "unknown-database-state": {"read_database_compute"},
    "unknown-data-mode": {"read_database_compute"},
    # The flag is closed to additional properties, and its fields and those of the DNS authorization
    # are all required.
    "absent-fields": CALLS.keys() - {"set_project_powered_by_flag", "get_dns_authorization"},
    "extra-fields": CALLS.keys() - {"set_project_powered_by_flag"},
}


@pytest.mark.parametrize("point", list_points(), ids=lambda point: point.id)
def test_a_point_varies_the_responses_of_these_calls(point):
    assert set(point.calls) == CALLS_OF_POINTS.get(point.id, set())


def test_the_calls_are_listed_only_for_points_that_exist():
    assert CALLS_OF_POINTS.keys() <= {point.id for point in list_points()}


@pytest.mark.parametrize("point", list_points(), ids=lambda point: point.id)
def test_every_point_is_described_with_known_calls_and_assumptions(point):
    assert re.fullmatch("[a-z]+(-[a-z]+)*", point.id)
    assert re.match("[^A-Z]", point.about)
    assert not point.about.endswith(".")
    # A remark in brackets is ours, and a semicolon separates quotes.
    quotes = [quote.strip(" .") for quote in re.split(r"\[[^]]*\]|; ", point.sentence)]
    assert [quote for quote in quotes if quote not in CONTRACT] == []
    assert any(quotes)
    assert set(point.calls) <= set(CALLS)
    assert set(point.assumptions) <= {row["name"] for row in describe(DEFAULTS)}


def test_no_point_varies_what_a_client_must_know_beforehand():
    decided = {name for point in ASSUMED for name in point.assumptions}

    assert decided & KNOWN_BEFOREHAND == set()


def test_points_are_read_in_the_order_of_the_table_and_once():
    assert read_points(["page-size", "accepted-status", "page-size"]) == (
        "accepted-status",
        "page-size",
    )


def test_an_unknown_point_is_refused_with_the_nearest_name():
    with pytest.raises(
        VariationRefused, match=r"variation point 'page-sizes'; did you mean page-size\?"
    ):
        read_points(["page-sizes"])


@pytest.mark.parametrize("code", STATUSES)
def test_only_statuses_that_the_contract_leaves_open_are_drawn(code: str):
    assert "status" not in PROBLEMS[code].specified
    assert PROBLEMS[code].status not in STATUSES[code]
    assert all(400 <= status <= 599 for status in STATUSES[code])


def test_no_seed_draws_an_assumption_that_contradicts_the_contract():
    for number in range(300):
        drawn = DEFAULTS.changed(draw_assumptions(read_variation(str(number)), DEFAULTS, ()))
        assert [row["name"] for row in describe(drawn) if row["warning"]] == [], number


def test_the_flag_has_only_the_statuses_that_its_call_lists():
    seeds = [read_variation(str(number)) for number in range(50)]
    drawn = [DEFAULTS.changed(draw_assumptions(seed, DEFAULTS, ())) for seed in seeds]
    statuses = {
        int(status)
        for assumptions in drawn
        for status in responses(CALLS["set_project_powered_by_flag"], assumptions)
    }

    assert statuses == {200, 400, 401, 403, 404, 409, 503}


STARTING_CALLS = ["initialize_managed_source", "apply_project_domains"]
OPERATION_CALLS = [*STARTING_CALLS, "get_operation"]
#: The calls whose responses a point can vary, by point. All other points vary all calls.
VARIED_CALLS: dict[str, list[str]] = {
    "accepted-status": STARTING_CALLS,
    "key-created-status": ["create_user_api_key"],
    "key-replayed-status": ["create_user_api_key"],
    "ticket-created-status": ["create_dev_access_ticket"],
    "deployment-order": ["list_deployments"],
    "permission-names": ["create_user_api_key"],
    "lifecycle-longer": OPERATION_CALLS,
    "operation-replay": STARTING_CALLS,
    "flag-reenabled": ["set_project_powered_by_flag"],
    "unknown-body-fields": ["initialize_managed_source", "create_user_api_key"],
    "unexpected-body": [
        "apply_project_domains",
        "get_operation",
        "get_dns_authorization",
        "list_deployments",
        "create_dev_access_ticket",
        "read_database_compute",
    ],
    "page-size": ["list_deployments"],
    "cursor-form": ["list_deployments"],
    "id-order": [*OPERATION_CALLS, "list_deployments"],
    "absent-fields": [
        *OPERATION_CALLS,
        "create_user_api_key",
        "list_deployments",
        "create_dev_access_ticket",
        "read_database_compute",
    ],
    "scope-order": ["get_dns_authorization"],
    "starts-running": OPERATION_CALLS,
    "progress-absent": OPERATION_CALLS,
    "unknown-phase": OPERATION_CALLS,
    "unknown-reconciliation-state": OPERATION_CALLS,
    "unknown-error-code": OPERATION_CALLS,
    "unknown-deployment-status": ["list_deployments"],
    "unknown-database-state": ["read_database_compute"],
    "unknown-data-mode": ["read_database_compute"],
    "result-content": OPERATION_CALLS,
    "next-poll": OPERATION_CALLS,
    "extra-fields": [
        *OPERATION_CALLS,
        "create_user_api_key",
        "get_dns_authorization",
        "list_deployments",
        "create_dev_access_ticket",
        "read_database_compute",
    ],
}


def test_a_point_names_the_calls_whose_responses_it_can_vary():
    assert {point.id: point.calls for point in list_points() if point.calls} == VARIED_CALLS
