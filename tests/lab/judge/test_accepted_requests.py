"""A run in which a refused request is accepted shows whether a client expects the refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial, refused_request
from hosting_emulator_lab.judge.client_requests import NumberedRequest, number_requests
from tests.lab.judge.samples import exchange

FLAG = "set_project_powered_by_flag"
#: A flag that is switched, a request with an invalid token, a reused key, a ticket that is redeemed
#: twice, and a request to no call.
EXCHANGES = (
    exchange(FLAG, n=1),
    exchange(FLAG, 401, n=2, user_id=None),
    exchange(FLAG, 409, n=3),
    exchange("redeem_ticket", 303, n=4, user_id=None),
    exchange("redeem_ticket", 404, n=5, user_id=None),
    exchange(None, 404, n=6, user_id=None),
)


@pytest.mark.parametrize(
    ("number", "trial"),
    [
        (1, None),
        (2, f"accept/{FLAG}#2"),
        (3, f"accept/{FLAG}#3"),
        (4, None),
        (5, "accept/redeem_ticket#2"),
        (6, None),
    ],
)
def test_only_a_refused_request_to_a_call_can_be_accepted(number: int, trial: str | None) -> None:
    refused = refused_request(EXCHANGES, (0, number))
    assert (refused and str(refused)) == trial


def test_a_request_of_another_chapter_does_not_count() -> None:
    assert refused_request(EXCHANGES, (1, 3)) is None


@pytest.mark.parametrize("text", [f"accept/{FLAG}#2", "accept/redeem_ticket#1"])
def test_a_trial_is_read_from_its_text(text: str) -> None:
    assert str(AcceptedTrial.read(text)) == text


def test_the_request_gets_the_response_of_the_first_success_of_its_call() -> None:
    requests = [_with_response(request) for request in number_requests(EXCHANGES)]
    assert AcceptedTrial(FLAG, 3).fault(requests) == {
        "respond": {"status": 200, "content": {"number": 1}},
        "call": FLAG,
        "credentials": "any",
        "skip_first": 2,
        "times": 1,
    }


def test_without_a_success_of_its_call_the_request_gets_an_empty_object() -> None:
    fault = AcceptedTrial(FLAG, 1).fault([])
    assert fault["respond"] == {"status": 200, "content": {}}


def test_a_redemption_has_no_credentials_and_gets_an_empty_page() -> None:
    assert AcceptedTrial("redeem_ticket", 2).fault([]) == {
        "respond": {"status": 200, "content": ""},
        "call": "redeem_ticket",
        "skip_first": 1,
        "times": 1,
    }


def _with_response(request: NumberedRequest) -> NumberedRequest:
    return replace(request, response={"number": request.number})
