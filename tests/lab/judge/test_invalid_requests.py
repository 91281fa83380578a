"""Requests of a trial that the service refuses as invalid."""

from __future__ import annotations

from typing import Any

from hosting_emulator_lab.judge.client_requests import ObservedExchange
from hosting_emulator_lab.judge.invalid_requests import invalid_request_text
from tests.lab.judge.samples import exchange

LIST = "list_deployments"
DETAIL = "The X-Request-Id header has 150 characters; it must have 1 to 128."


def refused(call: str = LIST, **fields: Any) -> ObservedExchange:
    """Return a request that is refused as invalid."""
    values = {"code": "invalid_request", "why": (DETAIL,), "n": 2, **fields}
    return exchange(call, 400, **values)


def test_the_first_invalid_request_is_described_in_the_words_of_its_refusal() -> None:
    exchanges = [exchange(LIST), refused(), refused(n=3, why=("another reason",))]

    text = invalid_request_text(exchanges, [exchange(LIST)])

    assert text == f"#2: {LIST} was refused with 400 invalid_request: {DETAIL}"


def test_the_reason_of_a_refusal_is_named_even_if_the_clock_moved_before() -> None:
    moved = "the skip clock moved to 2026-01-01T00:00:01.000Z, the end of the wait"

    text = invalid_request_text([refused(why=(moved, DETAIL))], [])

    assert text.endswith(f"invalid_request: {DETAIL}")


def test_other_refusals_are_not_invalid_requests() -> None:
    assert invalid_request_text([exchange(LIST, 403, code="forbidden")], []) == ""


def test_a_refusal_by_a_fault_says_nothing_about_a_request() -> None:
    injected = refused(why=("fault-1 (abort, before_commit) acted", DETAIL))

    assert invalid_request_text([injected], []) == ""


def test_a_client_may_test_that_an_invalid_request_is_refused() -> None:
    other = "create_user_api_key"

    assert invalid_request_text([refused()], [refused()]) == ""
    assert invalid_request_text([refused(other)], [refused()]) != ""
