"""The choices that are named where the contract is silent."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.sdk import ControlRefused
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import expect_problem
from tests.support.wire import wire

# --- Idempotency-Keys in a world whose assumptions change -----------------------------------------


@pytest.mark.parametrize("before", ["principal", "principal_and_call"])
def test_changing_the_scope_of_idempotency_keys_keeps_their_responses(
    api: CheckedWorld, before: str
) -> None:
    after = {"principal": "principal_and_call", "principal_and_call": "principal"}[before]
    api.assume(idempotency_scope=before)
    created = api.create_key(key="k").json["key"]["id"]
    operation = api.apply_domains(key="d").body

    for scope in (after, before, after):
        api.assume(idempotency_scope=scope)
        replay = api.create_key(key="k").json
        assert (replay["replayed"], replay["key"]["id"]) == (True, created)
        assert api.apply_domains(key="d").body == operation


def test_a_key_that_two_calls_used_is_replayed_to_each_of_them(api: CheckedWorld) -> None:
    api.assume(idempotency_scope="principal_and_call")
    flag = api.set_flag(False, key="k")
    operation = api.apply_domains(key="k")

    api.assume(idempotency_scope="principal")

    assert api.set_flag(False, key="k").body == flag.body
    assert api.apply_domains(key="k").body == operation.body
    expect_problem(api.initialize(1, key="k"), 409, "idempotency_key_reused")


# --- Identifiers ----------------------------------------------------------------------------------


def test_a_request_that_is_not_http_gets_a_request_id_of_the_usual_form(api: CheckedWorld) -> None:
    ids = []
    for _ in range(2):
        with wire(api.emulator.base_url) as connection:
            connection.send(b"GET / HTTP/1.1\r\nBad Header: x\r\n\r\n")
            refused = connection.read_response()
        assert refused.status == 400
        ids.append(refused.json["request_id"])
        assert refused.headers["X-Request-Id"] == ids[-1]

    assert all(re.fullmatch("req_" + ULID_PATTERN.strip("^$"), id_) for id_ in ids)
    assert ids[0] != ids[1]


# --- Operations -----------------------------------------------------------------------------------


def test_a_past_operation_has_a_result_exactly_when_it_succeeded(api: CheckedWorld) -> None:
    """`optional_fields`: a field that has a value is always present."""
    api.intervene("add_deployments", project="shop", status="ready")
    items = api.deployments("?limit=100").json["items"]
    operations = [api.poll(item["operation_id"]).json for item in items]

    assert {operation["state"] for operation in operations} >= {"succeeded", "failed"}
    for operation in operations:
        assert ("result" in operation) is (operation["state"] == "succeeded")
        assert ("error" in operation) is (operation["state"] == "failed")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/projects/{project_id}/{operation_id}",
        "/v1/{operation_id}/projects",
        "/v1/projects/{operation_id}/source:initialize",
        "/v1/projects/{project_id}/source:{operation_id}",
        "/v1/organizations/{operation_id}/user-api-keys",
        "/v1/projects/{project_id}/database/{operation_id}",
    ],
)
def test_an_operation_path_that_overlaps_a_call_is_refused(api: CheckedWorld, path: str) -> None:
    overlaps = path != "/v1/{operation_id}/projects"
    if not overlaps:
        api.assume(operation_path=path)
        return
    with pytest.raises(ControlRefused, match="operation_path"):
        api.assume(operation_path=path)


# --- Members and flags ----------------------------------------------------------------------------


def test_the_key_of_a_member_who_left_and_came_back_works_again(api: CheckedWorld) -> None:
    """The fixed choice `returned_members_keys`."""
    token = api.create_key(user="member").json["value"]
    member: dict[str, Any] = {"organization": "acme", "user": "member"}

    api.intervene("remove_member", **member)
    assert api.dns(token=token).status == 404
    api.intervene("add_member", **member)

    assert api.dns(token=token).status == 200
    assert api.create_key(user="member").status == 201


def test_hiding_a_hidden_flag_succeeds_even_where_a_free_workspace_has_a_domain(
    api: CheckedWorld,
) -> None:
    """The fixed choice `hidden_flag`: no domain depends on a flag that is hidden."""
    api.set_flag(False)
    api.intervene("connect_domain", project="shop", domain="shop.example.com")
    api.intervene("set_plan", organization="acme", plan="free")

    assert api.set_flag(False).status == 200
    api.set_flag(True)
    expect_problem(api.set_flag(False), 409, "powered_by_flag_required")


def test_a_charset_of_the_content_type_changes_nothing(api: CheckedWorld) -> None:
    """The fixed choice `json_text`: JSON is UTF-8 (RFC 8259), whatever the charset says."""
    headers = {"Content-Type": "application/json; charset=latin1"}
    name = "José"

    accepted = api.call(
        "POST",
        f"/v1/organizations/{api.emulator.organization}/user-api-keys",
        key="k",
        raw=f'{{"name":"{name}"}}'.encode(),
        headers=headers,
    )
    refused = api.call(
        "POST",
        f"/v1/organizations/{api.emulator.organization}/user-api-keys",
        key="l",
        raw=f'{{"name":"{name}"}}'.encode("latin-1"),
        headers=headers,
    )

    assert accepted.json["key"]["name"] == name
    expect_problem(refused, 400, "invalid_request")


def test_a_replayed_refusal_has_the_request_id_of_the_first(api: CheckedWorld) -> None:
    """The fixed choice `replayed_refusal`: header and body are those of the first response."""
    api.assume(idempotency_remembers="all_answers")
    first = api.initialize(9, key="k", headers={"X-Request-Id": "first"})
    second = api.initialize(9, key="k", headers={"X-Request-Id": "second"})

    assert first.body == second.body
    assert second.headers["X-Request-Id"] == second.json["request_id"] == "first"


NAMES = {
    "hidden_flag",
    "replayed_refusal",
    "source_deployment",
    "read_status",
    "project_roles",
    "suspend_timeout",
    "json_text",
    "required_body",
    "cursor_life",
    "next_poll",
    "returned_members_keys",
}


def test_each_choice_is_listed_by_its_name(api: CheckedWorld) -> None:
    listed = {row.name for row in api.emulator.assumptions}

    assert listed >= NAMES
