"""A response is compared with the result that its request must have."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator_lab.contract_check.evidence import Evidence
from hosting_emulator_lab.contract_check.expectations import Expectations
from hosting_emulator_lab.contract_check.refusal_codes import (
    ACCESS_CODES,
    ACCESS_OR_INPUT_CODES,
    BUSY_CODES,
    REQUEST_CODES,
    describes_a_state,
)
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior

_KEY = "flag.body"


def response(status: int, code: str | None = None, call_id: str = "list_deployments") -> Any:
    body = b"{}" if code is None else f'{{"code": "{code}"}}'.encode()
    return ServerResponse("it", status, body=body, call_id=call_id, broken="it broke")


class Expected:
    """The evidence after a response was compared with an expectation."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self.evidence.working_calls |= {"deployments.call", "flag.call"}
        self.behavior = ServerBehavior()
        self.expect = Expectations(self.evidence, self.behavior)

    def verdict(self, key: str = _KEY) -> str:
        verdict, (text,) = self.evidence.verdict(key, "")
        return f"{verdict} {text}"


_NO_ROLE = "the contract does not say which role or permission it needs"
_NO_OWNER = "cannot be judged: the token seems not to be an owner's"
_SUCCEED = "it should have succeeded"
_REFUSED = "it should have been refused"
_PROBLEM = "it should have been refused with a 4xx problem"
_OTHER = "the refusal has another reason"
_NOTHING = "skipped no response showed it"


@pytest.mark.parametrize(
    ("observed", "is_success", "verdict"),
    [
        (response(200), True, _NOTHING),
        (response(299), True, _NOTHING),
        (response(0), False, "skipped it: it broke"),
        (response(503, "service_unavailable"), False, "skipped it: 503 service_unavailable"),
        (response(403, "forbidden"), False, f"skipped it: 403 forbidden: {_NO_ROLE}"),
        (
            response(403, "forbidden", "set_project_powered_by_flag"),
            False,
            f"skipped it: 403 forbidden: {_NO_OWNER}",
        ),
        (response(400, "invalid_request"), False, f"differs it: 400 invalid_request: {_SUCCEED}"),
        (response(500), False, f"differs it: 500: {_SUCCEED}"),
        (response(300), False, f"differs it: 300: {_SUCCEED}"),
        (response(418, "teapot"), False, f"differs it: 418 teapot: {_SUCCEED}"),
    ],
)
def test_a_correct_request_must_succeed_unless_the_service_is_in_another_state(
    observed: ServerResponse, is_success: bool, verdict: str
) -> None:
    expected = Expected()

    assert expected.expect.success(_KEY, observed) is is_success
    assert expected.verdict() == verdict


def test_an_owner_whose_call_has_succeeded_must_not_be_forbidden_another() -> None:
    expected = Expected()
    expected.expect.success(_KEY, response(200, call_id="create_dev_access_ticket"))

    forbidden = response(403, "forbidden", "set_project_powered_by_flag")
    assert not expected.expect.success(_KEY, forbidden)
    assert expected.verdict() == f"differs it: 403 forbidden: {_SUCCEED}"


@pytest.mark.parametrize(
    ("observed", "code", "is_refused", "verdict"),
    [
        (response(0), None, None, "skipped it: it broke"),
        (response(400, "invalid_request"), None, True, "holds it: 400 invalid_request"),
        (response(404), None, True, "holds it: 404"),
        (response(499, "teapot"), None, True, "holds it: 499 teapot"),
        (response(200), None, False, f"differs it: 200: {_REFUSED}"),
        (response(302), None, False, f"differs it: 302: {_PROBLEM}"),
        (response(500), None, False, f"differs it: 500: {_PROBLEM}"),
        (response(500, "invalid_request"), None, True, "holds it: 500 invalid_request"),
        (
            response(503, "service_unavailable"),
            None,
            None,
            f"undecided it: 503 service_unavailable: {_OTHER}",
        ),
        (
            response(409, "deployment_plan_expired"),
            None,
            None,
            f"undecided it: 409 deployment_plan_expired: {_OTHER}",
        ),
        (response(409, "etag_mismatch"), "etag_mismatch", True, "holds it: 409 etag_mismatch"),
        (
            response(409, "etag_mismatch"),
            "forbidden",
            False,
            "differs it: 409 etag_mismatch: its code should be forbidden",
        ),
        (response(200), "forbidden", False, f"differs it: 200: {_REFUSED}"),
    ],
)
def test_an_incorrect_request_must_be_refused_for_the_right_reason(
    observed: ServerResponse, code: str | None, is_refused: bool | None, verdict: str
) -> None:
    expected = Expected()

    assert expected.expect.refusal(_KEY, observed, code) is is_refused
    assert expected.verdict() == verdict


@pytest.mark.parametrize(
    ("observed", "verdict", "code_verdict"),
    [
        (
            response(401, "unauthenticated"),
            "holds it: 401 unauthenticated",
            "holds it: 401 unauthenticated",
        ),
        (
            response(401, "teapot"),
            "holds it: 401 teapot",
            "differs it: 401 teapot: its code should be unauthenticated",
        ),
        (response(200), f"differs it: 200: {_REFUSED}", _NOTHING),
    ],
)
def test_the_code_of_a_refusal_has_a_sentence_of_its_own(
    observed: ServerResponse, verdict: str, code_verdict: str
) -> None:
    expected = Expected()

    expected.expect.refusal_with_code(_KEY, observed, "json", "unauthenticated")

    assert (expected.verdict(), expected.verdict("json")) == (verdict, code_verdict)


@pytest.mark.parametrize(
    ("observed", "verdict"),
    [
        (response(400, "invalid_request"), "holds it: 400 invalid_request"),
        (response(400), "holds it: 400"),
        (response(200), f"differs it: 200: {_REFUSED}"),
        (
            response(403, "forbidden"),
            "skipped it: 403 forbidden: this token may not use the call at all",
        ),
        (
            response(404, "resource_not_found"),
            f"undecided it: 404 resource_not_found: {_OTHER}",
        ),
    ],
)
def test_a_request_with_invalid_content_must_be_refused_because_of_its_content(
    observed: ServerResponse, verdict: str
) -> None:
    expected = Expected()

    expected.expect.invalid_input(_KEY, observed)

    assert expected.verdict() == verdict


_SAYS_NOTHING = "the refusal says nothing about the resource"


@pytest.mark.parametrize(
    ("observed", "verdict"),
    [
        (response(404, "resource_not_found"), "holds it: 404 resource_not_found"),
        (response(200), f"differs it: 200: {_REFUSED}"),
        (
            response(403, "forbidden"),
            "differs it: 403 forbidden: its code should be resource_not_found",
        ),
        (response(400, "invalid_request"), f"skipped it: 400 invalid_request: {_SAYS_NOTHING}"),
        (response(401, "unauthenticated"), f"skipped it: 401 unauthenticated: {_SAYS_NOTHING}"),
    ],
)
def test_a_resource_that_does_not_exist_must_not_be_found(
    observed: ServerResponse, verdict: str
) -> None:
    expected = Expected()

    expected.expect.not_found(observed)

    assert expected.verdict("condition.missing") == verdict


@pytest.mark.parametrize(
    ("observed", "values"),
    [
        (response(200), {"unknown_body_fields": "ignored"}),
        (response(400), {"unknown_body_fields": "refused"}),
        (response(422, "invalid_request"), {"unknown_body_fields": "refused"}),
        (response(404, "resource_not_found"), {}),
    ],
)
def test_an_input_that_a_call_does_not_have_is_ignored_or_refused(
    observed: ServerResponse, values: dict[str, str]
) -> None:
    expected = Expected()

    expected.expect.ignored_or_refused("unknown_body_fields", observed)

    assert expected.behavior.values == values


@pytest.mark.parametrize("codes", [BUSY_CODES, REQUEST_CODES, ACCESS_CODES, ACCESS_OR_INPUT_CODES])
def test_each_code_that_an_expectation_knows_is_a_code_of_the_contract(
    codes: frozenset[str],
) -> None:
    assert codes <= PROBLEMS.keys()


def test_a_busy_service_is_in_a_state_that_a_request_does_not_cause() -> None:
    assert all(describes_a_state(code) for code in BUSY_CODES)
    assert not any(describes_a_state(code) for code in (*REQUEST_CODES, "teapot", None))
