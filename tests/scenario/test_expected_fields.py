"""A field that the contract does not define can be expected only if a fault may add it to the response."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.stories import verdict_of

Document = dict[str, Any]

#: A response to `list_deployments` that has no field of the contract.
CONTENT: Document = {"content": '{"color": "red"}'}
STEP: Document = {"call": "list_deployments", "expect": {"body": {"color": "red"}}}


@pytest.mark.parametrize(
    "fault",
    [
        {"respond": CONTENT},
        {"respond": CONTENT, "call": "list_deployments"},
        {"alter": {"set": {"/color": "red"}}, "call": "list_deployments"},
        {"alter": {"set": {"/color": "red"}}},
    ],
    ids=str,
)
def test_a_field_that_a_fault_adds_can_be_expected(fault: Document) -> None:
    assert verdict_of([STEP], [fault]) == "green"


@pytest.mark.parametrize(
    "fault",
    [
        {"alter": {"rename": {"/items": "color"}, "breaking": True}},
        {"alter": {"set": {"/items": []}, "breaking": True}},
    ],
    ids=str,
)
def test_an_unknown_field_of_a_response_that_a_fault_can_break_is_only_a_difference(
    fault: Document,
) -> None:
    assert verdict_of([STEP], [fault]) == "red"


@pytest.mark.parametrize(
    "fault",
    [
        {"respond": CONTENT, "call": "get_dns_authorization"},
        {"alter": {"set": {"/color": "red"}}, "call": "get_dns_authorization"},
        {"alter": {"set": {"/items/0/status": "new"}}, "call": "list_deployments"},
        {"alter": {"headers": {"X-Color": "red"}}, "call": "list_deployments"},
        {"timeout": {}, "call": "list_deployments"},
    ],
    ids=str,
)
def test_a_fault_that_cannot_add_a_field_to_a_response_does_not_allow_one(fault: Document) -> None:
    assert verdict_of([STEP], [fault]) == "refused"
