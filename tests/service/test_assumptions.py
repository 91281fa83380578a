"""Every assumption, at each of its alternatives, visibly changes a response.

A case asks the same of two fresh worlds: one as it comes, one under the alternative. Both answers
are written down in `assumption_cases`, and a test finds assumptions without a case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import DEFAULTS, AssumptionRefused
from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.service.assumption_cases import Case, cases
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import expect_problem

CASES = cases.cases

#: Alternatives that another file shows, and why.
ELSEWHERE = {
    ("idempotency_in_flight", "refuse"),  # needs a slow disk: test_idempotency_in_flight.py
}


@pytest.fixture
def other(api: CheckedWorld) -> Iterator[CheckedWorld]:
    """Another fresh world."""
    control = api.emulator.control
    world = control.create_world(clock={"mode": "frozen"})
    yield CheckedWorld(HostingEmulator(control, world))
    control.world(world.name).delete()


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=f"{c.name}={str(c.value)[:24]}") for c in CASES]
)
def test_an_alternative_changes_the_response(
    api: CheckedWorld, other: CheckedWorld, case: Case
) -> None:
    # given two fresh worlds, one of them under the alternative
    other.assume(**{case.name: case.value})

    before = case.probe(api)
    after = case.probe(other)

    assert before == case.usual
    assert after == case.expected
    assert before != after


def test_every_alternative_has_a_case(api: CheckedWorld) -> None:
    cases = {(c.name, str(c.value)) for c in CASES} | ELSEWHERE
    missing: list[str] = []
    for row in api.emulator.assumptions:
        alternatives = row.alternatives
        if alternatives == "any":
            if not any(name == row.name for name, _ in cases):
                missing.append(row.name)
            continue
        for value in alternatives:
            if (row.name, str(value)) not in cases:
                missing.append(f"{row.name}={value}")

    assert missing == [], "add a case to tests/service/assumption_cases.py"


CONTRACT = (Path(__file__).parents[1] / "support" / "contract.txt").read_text(encoding="utf-8")


#: The contract without the bars of its tables.
PLAIN_CONTRACT = re.sub(r"\s*\|\s*", " ", CONTRACT)


def _silences() -> list[str]:
    """Return the contract's sentences that leave something open, in its own words."""
    sentences = re.split(r"\n|(?<=\.) (?=[A-Z])", CONTRACT)
    return [
        sentence.removeprefix("- ")
        for sentence in sentences
        if re.search("not (shown|given)", sentence)
    ]


def _quotes(row: dict[str, Any], sentence: str) -> bool:
    parts = row["sentence"].split("[...]")
    return bool(re.search(".*".join(re.escape(part.strip()) for part in parts), sentence))


def test_every_sentence_that_leaves_something_open_has_an_assumption() -> None:
    rows = describe(DEFAULTS)
    silences = _silences()

    assert len(silences) > 18
    assert [silence for silence in silences if not any(_quotes(row, silence) for row in rows)] == []


@pytest.mark.parametrize(
    "row", [row for row in describe(DEFAULTS) if row["fixed"]], ids=lambda row: row["name"]
)
def test_a_fixed_choice_is_explained_and_cannot_be_set(row: dict[str, Any]) -> None:
    """Fixed choices are listed beside the settings, and the refusal to set one gives the reason."""
    assert row["sentence"] in CONTRACT
    assert row["about"].endswith(".")

    with pytest.raises(AssumptionRefused, match=re.escape(f"{row['name']} cannot be set: ")):
        DEFAULTS.changed({row["name"]: "anything"})


def test_each_assumption_has_a_description_and_quotes_the_contract(api: CheckedWorld) -> None:
    """Text in brackets is ours: an omission, or what the sentence does not say."""
    for row in api.emulator.assumptions:
        assert row.value == row.default
        assert row.about
        parts = [part.strip(" .") for part in re.split(r"\[.*?\]", row.sentence)]
        assert any(parts)
        for part in parts:
            assert part in PLAIN_CONTRACT, f"quote the contract exactly, not: {row.sentence}"


@pytest.mark.parametrize(
    "values",
    [
        {"accepted_status": 204},
        {"accepted_status": True},
        {"default_page_size": 0},
        {"default_page_size": 101},
        {"idempotency_retention": "soon"},
        {"operation_path": "/v1/operations"},
        {"operation_path": "/v1/{operation_id}/{operation_id}"},
        {"operation_path": "/v1/projects/{operation_id}/edge-dns"},
        {"operation_path": "/v1/projects/{operation_id}/database/compute"},
        {"operation_path": "/v1/projects/{operation_id}/domains"},
        {"operation_path": "/v1/organizations/{operation_id}/user-api-keys"},
        {"operation_path": "/v1/x/../{operation_id}"},
        {"operation_path": "/v1/x/{operation_id}/.."},
        {"cursor_parameter": "cursor\n"},
        {"reconciliation_states": ["", "running", "completed", "exhausted"]},
        {"reconciliation_states": ["running", "running", "completed", "exhausted"]},
        {"docs_url": "https://docs.example?page=1"},
        {"docs_url": "https://docs.example#page"},
        {"docs_url": "https://docs.example/für"},
        {"problem_statuses": {"resource_not_found": 410}},
        {"problem_statuses": {"no_such_code": 400}},
        {"problem_statuses": {"forbidden": 200}},
        {"source_profile": "per_poll 0"},
        {"source_profile": "timed 2s"},
        {"source_creates_deployment": False},
        {"empty_fields": "null"},
        {"condition_codes": {"generation_stale": "idempotency_key_reused"}},
        {"condition_codes": {"no_organization": "forbidden"}},
        {"data_modes": ["together", "separate"]},
        {"rate_limit": "0/60s"},
        {"rate_limit": "5/2d"},
        {"progress_phases": ["a", "a", "b", "c", "d"]},
        {"progress_phases": ["a", "b"]},
        {"cursor_parameter": "limit"},
        {"no_such_assumption": 1},
        {"accepted_status": 200, "default_page_size": 0},
    ],
    ids=str,
)
def test_an_impossible_assumption_is_refused_and_changes_nothing(
    api: CheckedWorld, values: dict[str, Any]
) -> None:
    before = api.state()

    with pytest.raises(ControlRefused) as refused:
        api.assume(**values)

    assert refused.value.status == 400
    assert api.state() == before


def test_a_cursor_of_another_order_is_refused(api: CheckedWorld) -> None:
    cursor = api.deployments("?limit=5").json["next_cursor"]
    api.assume(deployment_order="oldest_first")

    expect_problem(api.deployments(f"?cursor={cursor}"), 400, "invalid_request")


def test_query_parameters_can_have_names_with_brackets_or_a_dollar_sign(api: CheckedWorld) -> None:
    api.assume(limit_parameter="page[size]", cursor_parameter="$skiptoken")

    first = api.deployments("?page%5Bsize%5D=2").json
    second = api.deployments(f"?page[size]=2&$skiptoken={first['next_cursor']}").json

    assert len(first["items"]) == len(second["items"]) == 2
    assert first["items"] != second["items"]


def test_the_path_of_an_operation_can_end_with_a_custom_method(api: CheckedWorld) -> None:
    api.assume(operation_path="/v1/operations/{operation_id}:poll")
    accepted = api.apply_domains().json

    polled = api.call("GET", f"/v1/operations/{accepted['id']}:poll")

    assert (polled.status, polled.json) == (200, accepted)


NESTED = "/v1/projects/{project_id}/operations/{operation_id}"


def test_an_operation_path_below_projects_works_only_below_its_own_project(
    api: CheckedWorld,
) -> None:
    api.assume(operation_path=NESTED)
    accepted = api.apply_domains().json
    shop, blog = (
        NESTED.format(project_id=api.project_record(alias)["id"], operation_id=accepted["id"])
        for alias in ("shop", "blog")
    )

    polled = api.call("GET", shop)

    assert (polled.status, polled.json) == (200, accepted)
    expect_problem(api.call("GET", blog), 404, "resource_not_found")
    expect_problem(api.call("GET", f"/v1/operations/{accepted['id']}"), 404, "resource_not_found")


@pytest.mark.parametrize("more", ["{}x", "x{}", "x%2F{}%2Fx"])
def test_an_operation_path_accepts_only_the_exact_project_id(api: CheckedWorld, more: str) -> None:
    api.assume(operation_path=NESTED)
    operation = api.apply_domains().json["id"]
    path = NESTED.format(project_id=more.format(api.project_record()["id"]), operation_id=operation)

    expect_problem(api.call("GET", path), 404, "resource_not_found")


def test_a_fault_can_match_the_polls_of_a_single_project(api: CheckedWorld) -> None:
    api.assume(operation_path=NESTED)
    shop = api.project_record()["id"]
    api.emulator.fault(gateway_error={}, path=f"/v1/projects/{shop}/operations/*")
    operation = api.apply_domains().json["id"]

    response = api.send("GET", NESTED.format(project_id=shop, operation_id=operation))

    assert response.status == 502
    with pytest.raises(ControlRefused, match="could never match"):
        api.emulator.fault(gateway_error={}, path=f"/v1/projects/{shop}/jobs/*")


@pytest.mark.parametrize("path", ["/v1/projects/{operation_id}", "/v1/{operation_id}"])
def test_an_operation_path_never_hides_a_call(api: CheckedWorld, path: str) -> None:
    """Wherever operations are polled, the eight calls stay where the contract has them."""
    api.assume(operation_path=path)

    assert api.apply_domains().status == 202
    assert api.dns().status == 200
