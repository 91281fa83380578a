"""The table of calls: exactly the paths of the contract, and a description of every call."""

import re
from pathlib import Path
from typing import get_args

import pytest

from hosting_emulator.contract import call_table
from hosting_emulator.contract.access import ProjectAccess
from hosting_emulator.contract.assumption_table import affects_call
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import (
    CallTable,
    Match,
    MethodRefused,
    PathRefused,
    describe_calls,
    problem_codes,
)
from hosting_emulator.contract.calls import (
    CURSOR,
    ROWS,
    AssumedStatus,
    CallName,
    CallSpec,
    Idempotency,
)
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.resources import OperationResource

TABLE = CallTable()
CONTRACT = (Path(__file__).parents[1] / "support" / "contract.txt").read_text(encoding="utf-8")
#: The summary and the purpose of each call, by its number in the contract.
OPERATIONS = {
    int(number): (summary, purpose)
    for number, summary, purpose in re.findall(r"(?m)^\| (\d) \| ([^|]+) \| ([^|]+) \|$", CONTRACT)
}


@pytest.mark.parametrize("spec", TABLE.specs, ids=lambda spec: spec.call_id)
def test_every_call_is_found_by_method_and_path(spec):
    path = spec.path.replace(f"{{{spec.subject}_id}}", "THE-ID")

    assert TABLE.find(spec.method, path) == Match(spec, "THE-ID")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1",
        "/v1/",
        "/v1/projects",
        "/v1/projects/X",
        "/v1/projects//edge-dns",
        "/v1/projects/X/edge-dns/",
        "/v1//projects/X/edge-dns",
        "/V1/projects/X/edge-dns",
        "/v2/projects/X/edge-dns",
        "/v1/projects/X/Y/edge-dns",
        "/v1/projects/X/source",
        "/v1/projects/X/source:Initialize",
        "/v1/operations/",
        "/v1/operations/X/Y",
        "/v1/organizations/X/edge-dns",
        "/v1/projects/X%2Fedge-dns",
        "/" * 5_000,
        "%",
    ],
)
def test_a_path_of_no_call_is_not_found(path):
    with pytest.raises(Refused) as refused:
        TABLE.find("GET", path)

    assert refused.value.code == "resource_not_found"


def test_a_path_with_escapes_is_the_same_path():
    match = TABLE.find("POST", "/v1/projects/%41/source%3Ainitialize")

    assert match == Match(TABLE.by_id["initialize_managed_source"], "A")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "put", "X" * 500])
def test_a_wrong_method_is_refused_with_the_allowed_methods(method):
    with pytest.raises(MethodRefused, match="it allows PUT") as refused:
        TABLE.find(method, "/v1/projects/X/domains")

    assert (refused.value.status, refused.value.allow) == (405, "PUT")
    assert len(refused.value.detail) < 200


@pytest.mark.parametrize("template", ["/v1/projects/{operation_id}", "/x/{operation_id}/y/z"])
def test_operations_are_polled_where_the_assumption_says(template):
    table = CallTable(Assumptions(operation_path=template))

    match = table.find("GET", template.replace("{operation_id}", "OP"))

    assert match == Match(table.by_id["get_operation"], "OP")
    assert table.find("GET", "/v1/projects/P/edge-dns").spec.call_id == "get_dns_authorization"


CANCEL = CallSpec(
    call_id="cancel_operation",  # type: ignore[arg-type]
    method="POST",
    path="/v1/operations/{operation_id}:cancel",
    summary="Cancel an operation",
    description="Cancel an operation that has not ended.",
    success=AssumedStatus("accepted_status"),
    response_type=OperationResource,
    access=ProjectAccess("owner", "projects.write"),
    idempotency=Idempotency(),
)


@pytest.fixture
def ninth(monkeypatch):
    monkeypatch.setattr(call_table, "ROWS", (*ROWS, CANCEL))
    return CallTable()


def test_a_suffix_behind_an_id_is_part_of_the_path(ninth):
    assert ninth.find("POST", "/v1/operations/OP:cancel") == Match(CANCEL, "OP")
    assert ninth.find("POST", "/v1/operations/OP%3Acancel") == Match(CANCEL, "OP")
    assert ninth.find("GET", "/v1/operations/OP").spec.call_id == "get_operation"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/v1/operations/OP", "GET"),
        ("POST", "/v1/operations/:cancel", "GET"),
        ("POST", "/v1/operations/OP:cancelled", "GET"),
        ("GET", "/v1/operations/OP:cancel", "POST"),
    ],
)
def test_a_path_with_another_suffix_is_another_path(ninth, method, path, allow):
    with pytest.raises(MethodRefused) as refused:
        ninth.find(method, path)

    assert refused.value.allow == allow


CHECK_THE_PATH = "Check the method and the path of the request."


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/nowhere", "no call has this path"),
        (
            "/v1/projects/P/dns",
            "no call has this path; did you mean GET /v1/projects/{project_id}/edge-dns?",
        ),
    ],
)
def test_a_path_of_no_call_is_refused_with_the_most_similar_path_as_the_reason(path, why):
    with pytest.raises(PathRefused) as caught:
        TABLE.find("GET", path)

    refused = caught.value
    assert str(refused) == "resource_not_found: The API has no such path."
    assert (refused.status, refused.why, refused.action) == (None, why, CHECK_THE_PATH)


@pytest.mark.parametrize("method", ["POST", "P" * 32, "P" * 33])
def test_the_refusal_of_a_wrong_method_says_the_same_in_all_its_forms(method):
    with pytest.raises(MethodRefused) as caught:
        TABLE.find(method, "/v1/projects/P/edge-dns")

    refused = caught.value
    assert str(refused) == (
        f"invalid_request: This path does not allow {method[:32]}; it allows GET."
    )
    assert (refused.status, refused.assumption, refused.allow) == (405, "wrong_method", "GET")
    assert (refused.subject, refused.subject_id) == ("project", "P")
    unknown = refused.as_unknown_path()
    assert str(unknown) == "resource_not_found: The API has no such path."
    assert (unknown.status, unknown.assumption) == (None, "wrong_method")
    assert (unknown.why, unknown.action) == ("the path allows GET", CHECK_THE_PATH)


def test_a_request_of_no_call_is_not_recognized():
    dns = TABLE.by_id["get_dns_authorization"]
    assert TABLE.recognize("GET", "/v1/projects/P/edge-dns") == Match(dns, "P")
    assert TABLE.recognize("POST", "/v1/projects/P/edge-dns") is None
    assert TABLE.recognize("GET", "/v1/nothing") is None


def test_every_assumption_that_a_row_names_exists():
    for spec in TABLE:
        assert spec.assumptions <= set(Assumptions.__struct_fields__), (
            f"declare it in contract/assumptions.py: {spec.call_id} names it"
        )


def test_an_assumption_shapes_the_calls_that_it_names_and_those_whose_row_names_it():
    def shaped(name: str) -> list[str]:
        return [spec.call_id for spec in TABLE if affects_call(name, spec)]

    assert shaped("flag_reenabled") == ["set_project_powered_by_flag"]
    assert shaped("accepted_status") == ["initialize_managed_source", "apply_project_domains"]
    assert shaped("idempotency_scope") == [spec.call_id for spec in TABLE if spec.idempotent]
    assert shaped("source_generation") == ["initialize_managed_source"]
    assert shaped("domains_plan") == ["apply_project_domains"]
    assert shaped("default_page_size") == ["list_deployments"]
    assert shaped("operation_path") == shaped("operation_role") == ["get_operation"]
    assert shaped("dns_role") == ["get_dns_authorization"]
    assert shaped("key_replayed_status") == ["create_user_api_key"]
    assert shaped("cursor_parameter") == ["list_deployments"]
    assert shaped("missing_environment") == ["read_database_compute"]
    assert shaped("docs_url") == []


def test_a_code_assigned_to_a_condition_is_listed_for_each_call_with_that_condition():
    assumptions = Assumptions().changed(
        {"condition_codes": "generation_stale=reconciliation_exhausted"}
    )

    calls = [
        spec.call_id
        for spec in TABLE
        if "reconciliation_exhausted" in problem_codes(spec, assumptions)
    ]

    assert calls == ["initialize_managed_source"]


def test_the_summaries_and_purposes_of_calls_are_the_contracts():
    described = {number: (spec.summary, spec.description) for number, spec in enumerate(ROWS, 1)}

    assert OPERATIONS.keys() == set(range(1, 9))
    for number, (summary, purpose) in OPERATIONS.items():
        own_summary, description = described[number]
        if number == 1:
            assert (
                own_summary == "Show or hide the flag"
            )  # the contract only has the function's name
        else:
            assert own_summary == summary
        if number == 7:
            # The rest quotes the section of the call.
            assert description.startswith("Issue a single-use, ten-minute ticket for the project's")
        else:
            assert description.startswith(f"{purpose}.")


@pytest.mark.parametrize("spec", ROWS, ids=lambda spec: spec.call_id)
def test_the_sentences_that_a_call_quotes_are_in_its_section_of_the_contract(spec):
    section = CONTRACT[CONTRACT.index("## Endpoints") :]
    _, _, number = spec.section.partition(", operation ")
    if number:
        section = re.split(r"(?m)^##+ ", section[section.index(f"### {number}. ") + 4 :])[0]
    sentences = [spec.query_sentence, spec.retry_sentence]
    if spec.method != "GET":
        sentences.append(spec.body_sentence)

    quotes = [part for sentence in sentences for part in sentence.split(" [...] ")]

    assert [quote for quote in quotes if quote not in section] == []


def test_the_type_of_a_call_name_lists_the_names_of_the_table():
    assert get_args(CallName) == tuple(spec.call_id for spec in ROWS)


def test_every_call_is_described():
    described = {row["call_id"]: row for row in describe_calls()}

    assert list(described) == [spec.call_id for spec in TABLE]
    flag = described["set_project_powered_by_flag"]
    assert flag["operation_id"] == "setProjectPoweredByFlag"
    assert flag["body"] == [
        {"name": "enabled", "type": "boolean", "required": True, "example": True}
    ]
    assert (flag["role"], flag["success"]) == ("owner", 200)
    cursor, limit = described["list_deployments"]["query"]
    assert cursor == {
        "name": "cursor",
        "required": False,
        "description": CURSOR.description,
        "pattern": CURSOR.pattern,
        "schema": CURSOR.schema,
    }
    assert limit["name"] == "limit"
