"""A changed response is allowed only if its parts still agree with each other and with the contract."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosting_emulator.contract.allowed_changes import Forbidden, SentResponse, find_forbidden
from hosting_emulator.contract.alterations import Alteration, Altered, Unaltered, alter_response
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.json_text import JsonText
from tests.support.calls import Response
from tests.support.in_process import InProcess

CALL = "get_dns_authorization"
REQUEST_ID = "request-1"


def sent(document: dict[str, Any], **headers: str) -> SentResponse:
    """Return a problem as it is sent, with the headers that each problem has."""
    fields = {"Content-Type": "application/problem+json", "X-Request-Id": REQUEST_ID}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(document).encode()
    return SentResponse(document["status"], tuple(fields.items()), body)


@pytest.fixture(scope="module")
def rate_limited() -> dict[str, Any]:
    """The body of a true refusal by a rate limit."""
    world = InProcess()
    world.add_fault(abort={"code": "rate_limited", "retry_after_seconds": 7}, call=CALL)
    return {**world.dns().json, "request_id": REQUEST_ID}


@pytest.fixture(scope="module")
def unknown_project() -> dict[str, Any]:
    """The body of a true refusal because there is no such project."""
    response = InProcess().call("GET", f"/v1/projects/{'0' * 26}/edge-dns")
    return {**response.json, "request_id": REQUEST_ID}


def test_a_value_that_the_contract_fixes_for_a_code_must_stay(
    unknown_project: dict[str, Any],
) -> None:
    before = sent(unknown_project)
    after = sent(unknown_project | {"retryable": True})

    forbidden = find_forbidden(CALLS[CALL], before, after)

    assert forbidden is not None
    assert forbidden.part == "/retryable"
    assert forbidden.reason == "/retryable must be false for code resource_not_found"
    assert forbidden.sentence == "Known conditions: resource_not_found"


def test_a_reason_is_followed_by_its_sentence_if_the_contract_has_one() -> None:
    assert str(Forbidden("status", "it is a success")) == "it is a success"
    assert str(Forbidden("status", "it is a success", "All bodies are JSON.")) == (
        "it is a success (contract: 'All bodies are JSON.')"
    )


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"type": "https://example.com/errors/other"}, "/type"),
        ({"request_id": "another"}, "X-Request-Id"),
        ({"retry_after_seconds": 8}, "Retry-After"),
    ],
)
def test_parts_of_a_problem_that_must_agree_are_compared(
    rate_limited: dict[str, Any], change: dict[str, Any], part: str
) -> None:
    before = sent(rate_limited, Retry_After="7")
    after = sent(rate_limited | change, Retry_After="7")

    forbidden = find_forbidden(CALLS[CALL], before, after)

    assert forbidden is not None
    assert forbidden.part == part


@pytest.mark.parametrize(
    ("length", "is_allowed"), [(0, False), (1, True), (128, True), (129, False)]
)
def test_the_request_id_of_a_problem_has_1_to_128_characters(
    unknown_project: dict[str, Any], length: int, is_allowed: bool
) -> None:
    before = sent(unknown_project)
    after = sent(unknown_project | {"request_id": "i" * length}, X_Request_Id="i" * length)

    forbidden = find_forbidden(CALLS[CALL], before, after)

    assert (forbidden is None) == is_allowed


def test_a_wait_may_change_in_the_header_and_the_body_together(
    rate_limited: dict[str, Any],
) -> None:
    before = sent(rate_limited, Retry_After="7")
    after = sent(rate_limited | {"retry_after_seconds": 8}, Retry_After="8")

    assert find_forbidden(CALLS[CALL], before, after) is None


def test_only_a_rate_limit_may_have_a_wait_in_its_body(unknown_project: dict[str, Any]) -> None:
    before = sent(unknown_project)
    after = sent(unknown_project | {"retry_after_seconds": 8})

    forbidden = find_forbidden(CALLS[CALL], before, after)

    assert forbidden is not None
    assert forbidden.part == "/retry_after_seconds"


@pytest.mark.parametrize(
    ("status", "reason"),
    [(429, None), (503, "the HTTP status is 503, but /status is 429")],
)
def test_the_status_of_a_problem_is_the_status_in_its_body(
    rate_limited: dict[str, Any], status: int, reason: str | None
):
    before = sent(rate_limited, Retry_After="7")
    after = SentResponse(status, before.headers, before.body)

    forbidden = find_forbidden(CALLS[CALL], before, after)

    assert (forbidden and (forbidden.part, forbidden.reason)) == (reason and ("status", reason))


def test_a_problem_with_an_unknown_code_may_change_its_detail(unknown_project: dict[str, Any]):
    before = unknown_project | {"code": "brand_new", "type": "https://example.com/other"}

    assert find_forbidden(CALLS[CALL], sent(before), sent(before | {"detail": "Other."})) is None


# --- Successful responses --------------------------------------------------------------------------

READS = {
    "get_dns_authorization": InProcess.dns,
    "list_deployments": InProcess.deployments,
    "read_database_compute": InProcess.compute,
}


def forbidden_part(call: str, change: Any, *, is_sample: bool = False) -> tuple[str, str] | None:
    """Return the part of a successful response that must not change, and why.

    `change` is a function that returns the changed document.
    """
    response: Response = READS[call](InProcess())
    before = SentResponse(200, tuple(response.headers.items()), response.body)
    after = SentResponse(200, before.headers, json.dumps(change(response.json)).encode())
    forbidden = find_forbidden(CALLS[call], before, after, is_sample=is_sample)
    return None if forbidden is None else (forbidden.part, forbidden.reason)


@pytest.mark.parametrize(
    ("call", "change", "part", "reason"),
    [
        (CALL, lambda dns: [dns], "", "the body is no longer a JSON object"),
        (CALL, lambda dns: dns | {"status": None}, "/status", "the value must not be null"),
        (CALL, lambda dns: dns | {"scopes": ["all"]}, "/scopes", "'all' is not one of dns.write"),
        (CALL, lambda dns: dns | {"scopes": ["zone.read"]}, "/scopes", "must not change"),
        (
            "list_deployments",
            lambda page: page | {"items": [5, *page["items"][1:]]},
            "/items",
            "an item of /items is no longer an object",
        ),
        (
            "list_deployments",
            lambda page: page | {"items": page["items"][1:]},
            "/items",
            "/items has a different number of items",
        ),
        (
            "read_database_compute",
            lambda compute: compute | {"database": compute["database"] | {"min_cu": 9}},
            "/database",
            "min_cu is greater than max_cu",
        ),
        (
            "read_database_compute",
            lambda compute: compute | {"database": compute["database"] | {"max_memory_gb": 0.5}},
            "/database",
            "min_memory_gb is greater than max_memory_gb",
        ),
    ],
)
def test_a_value_on_which_a_client_relies_must_not_change(
    call: str, change: Any, part: str, reason: str
):
    result = forbidden_part(call, change)

    assert result is not None
    assert result[0] == part
    assert reason in result[1]


@pytest.mark.parametrize(
    ("call", "change"),
    [
        (CALL, lambda dns: dns | {"scopes": dns["scopes"][::-1]}),
        ("list_deployments", lambda page: page | {"items": page["items"][::-1]}),
        (
            "read_database_compute",
            lambda compute: compute | {"database": compute["database"] | {"min_cu": 1.0}},
        ),
    ],
)
def test_an_order_and_a_value_that_the_contract_leaves_open_may_change(call: str, change: Any):
    assert forbidden_part(call, change) is None


@pytest.mark.parametrize(
    ("expires_at", "is_sample", "is_allowed"),
    [
        ("2026-01-31T01:00:00+01:00", False, True),
        ("2026-01-31T00:00:01Z", False, False),
        ("2026-01-31T00:00:01Z", True, True),
        ("soon", False, False),
        ("soon", True, False),
    ],
)
def test_a_time_may_change_its_form_and_the_time_of_a_sample_may_be_another(
    expires_at: str, is_sample: bool, is_allowed: bool
):
    result = forbidden_part(CALL, lambda dns: dns | {"expires_at": expires_at}, is_sample=is_sample)

    assert (result is None) == is_allowed


# --- Parts that do not exist -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alteration", "body", "reason"),
    [
        (Alteration(remove="/a"), b"<html>", "the body of the response is not JSON"),
        (Alteration(remove="/a"), b"\xff", "the body of the response is not JSON"),
        (Alteration(remove="/a"), b'{"a": 1} 2', "the body of the response is not JSON"),
        (Alteration(remove="/a"), b'{"a" 1}', "the body of the response is not JSON"),
        (Alteration(remove="/a"), b"{a: 1}", "the body of the response is not JSON"),
        (Alteration(remove="/a"), b'{"a": 1', "the body of the response is not JSON"),
        (
            Alteration(rename={"/a/0": "b"}),
            b'{"a": [1]}',
            "/a/0 is a list item, and list items have no name",
        ),
        (Alteration(reorder="/a"), b'{"a": 1}', "/a is neither a list nor an object"),
    ],
)
def test_a_part_that_cannot_be_changed_is_named(alteration: Alteration, body: bytes, reason: str):
    response = SentResponse(200, (("Content-Type", "application/json"),), body)

    assert alter_response(alteration, CALLS[CALL], response, int) == Unaltered(reason)


@pytest.mark.parametrize(
    ("before", "after"), [("{}", '{"b":2}'), ("{ }", '{"b":2}'), ('{"a":1}', '{"a":1,"b":2}')]
)
def test_a_member_is_added_to_an_object_with_and_without_others(before: str, after: str):
    text = JsonText(before)

    assert text.add((), "b", 2).text == after


@pytest.mark.parametrize(
    ("alteration", "is_lasting"),
    [
        (Alteration(set={"/result/extra": 1}), True),
        (Alteration(remove="/error/code"), True),
        (Alteration(rename={"/error": "failure"}), True),
        (Alteration(set={"/progress/phase": "x"}), False),
        (Alteration(set={"/extra/error": 1}), False),
        (Alteration(status=404), False),
    ],
)
def test_a_change_of_the_result_or_the_error_of_an_operation_lasts(
    alteration: Alteration, is_lasting: bool
):
    assert alteration.changes_lasting_part is is_lasting


def test_a_changed_header_keeps_its_place_and_its_spelling():
    headers = (("X-Request-Id", "a"), ("Content-Type", "application/json"))
    alteration = Alteration(headers={"x-request-id": "b", "X-Extra": "c"}, breaking=True)

    altered = alter_response(alteration, CALLS[CALL], SentResponse(200, headers, b"{}"), int)

    assert isinstance(altered, Altered)
    assert altered.response.headers == (
        ("X-Request-Id", "b"),
        ("Content-Type", "application/json"),
        ("X-Extra", "c"),
    )


def test_a_value_is_written_without_spaces_and_without_escapes():
    response = SentResponse(200, (("Content-Type", "application/json"),), b'{ "zone": "a" }')
    alteration = Alteration(set={"/zone": {"ä": [1, 2], "b": None}}, breaking=True)

    altered = alter_response(alteration, CALLS[CALL], response, int)

    assert isinstance(altered, Altered)
    assert altered.response.body.decode() == '{ "zone": {"ä":[1,2],"b":null} }'


def test_a_header_of_a_response_without_json_may_not_change():
    headers = (("Content-Type", "application/json"), ("X-Request-Id", "a"))
    alteration = Alteration(headers={"X-Request-Id": "b"})

    unaltered = alter_response(alteration, CALLS[CALL], SentResponse(200, headers, b"<html>"), int)

    assert isinstance(unaltered, Unaltered)
    assert unaltered.forbidden is not None
    assert unaltered.forbidden.reason.startswith("the body is not JSON")
