"""A changed problem is allowed only if its parts still agree with each other and with the contract."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosting_emulator.contract.allowed_changes import SentResponse, find_forbidden
from hosting_emulator.contract.calls import CALLS
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
