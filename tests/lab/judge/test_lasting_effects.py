"""Each lasting effect is armed so that it lasts from the request of its point on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.client_requests import ObservedExchange, number_requests
from hosting_emulator_lab.judge.lasting_effects import LASTING_EFFECTS, lasting_effect
from tests.lab.judge.samples import exchange, requests
from tests.support.in_process import InProcess

CHANGE_CALL = "create_user_api_key"
READ_CALL = "list_deployments"
PROJECT = "01JGFJJZ00TGEYDG0VT5J9EZXF"


def effect_document(word: str, log: list[ObservedExchange], **responses: Any) -> JsonObject:
    """Return the protected fault of a lasting effect at the last request of a log."""
    effect = lasting_effect(word)
    assert effect is not None
    request = replace(number_requests(log)[-1], **responses)
    assert effect.suits(request)
    return effect.document(request, "TOKEN" if word == "token_expired" else None)


def test_an_outcome_skips_the_operations_that_the_client_began_before():
    log = [exchange("apply_project_domains", 202), exchange("apply_project_domains", 202)]

    assert effect_document("stick", log) == {
        "outcome": {
            "stick": {},
            "call": "apply_project_domains",
            "skip_first": 1,
            "times": 1_000_000,
        }
    }


def test_a_lasting_refusal_meets_the_request_and_all_later_requests_to_its_call():
    log = [exchange(READ_CALL), exchange(CHANGE_CALL, 201), exchange(READ_CALL)]

    assert effect_document("abort:forbidden", log) == {
        "fault": {"abort": {"code": "forbidden"}, "call": READ_CALL, "skip_first": 1}
    }


def test_an_outage_meets_every_later_request_to_any_call():
    log = [exchange(READ_CALL), exchange(CHANGE_CALL, 201)]

    assert effect_document("outage", log) == {
        "fault": {"abort": {"code": "service_unavailable"}, "skip_first": 1}
    }


def test_an_expired_token_meets_only_requests_with_this_token():
    assert effect_document("token_expired", [exchange(READ_CALL)]) == {
        "fault": {
            "abort": {"code": "unauthenticated"},
            "skip_first": 0,
            "header": {"Authorization": "Bearer TOKEN"},
        }
    }


def test_an_altered_response_keeps_its_other_members():
    log = [exchange(READ_CALL)]
    response = {"items": [1], "next_cursor": None}

    assert effect_document("empty_list", log, response=response) == {
        "fault": {
            "respond": {"content": {"items": [], "next_cursor": None}},
            "call": READ_CALL,
            "skip_first": 0,
        }
    }


def test_an_intervention_acts_on_the_project_of_the_request():
    log = [exchange(READ_CALL, project=PROJECT)]

    assert effect_document("another_page", log) == {
        "intervention": {"add_deployments": {"project": PROJECT, "count": 101}}
    }


@pytest.mark.parametrize("word", LASTING_EFFECTS)
def test_every_lasting_effect_can_be_armed(word: str):
    api = InProcess()
    effect = LASTING_EFFECTS[word]
    call = effect.call or "apply_project_domains"
    request = number_requests([exchange(call, project=api.project_id())])[0]
    response = {"items": [1], "database": {}, "status": "authorized"}

    document = effect.document(replace(request, response=response), "TOKEN")

    for name, fields in document.items():
        if name == "fault":
            assert api.add_fault(**fields)
        elif name == "outcome":
            assert api.add_outcome(**fields)
        else:
            for intervention, options in fields.items():
                assert api.intervene(intervention, **options)


@pytest.mark.parametrize("response", [None, {"items": []}, [1]])
def test_a_list_that_would_look_the_same_is_not_emptied(response: Any):
    request = replace(requests(READ_CALL)[0], response=response)

    assert not LASTING_EFFECTS["empty_list"].suits(request)


def test_only_the_first_of_several_pages_is_emptied_and_then_has_no_next_page():
    first = replace(requests(READ_CALL)[0], response={"items": [1], "next_cursor": "c"})
    second = replace(first, number=2)
    effect = LASTING_EFFECTS["empty_list"]

    assert [effect.suits(first), effect.suits(second)] == [True, False]
    assert effect.document(first)["fault"]["respond"] == {"content": {"items": []}}


def test_an_earlier_operation_needs_no_fault_and_waits_before_a_free_project():
    log = [exchange("apply_project_domains", 202, project=PROJECT)]

    assert effect_document("queued", log) == {}
    effect = lasting_effect("queued")
    assert effect is not None
    (in_other_world,) = number_requests(
        [exchange("apply_project_domains", 202, project=PROJECT, is_in_own_world=False)]
    )
    assert not effect.suits(in_other_world)
    assert not effect.suits(number_requests([exchange(READ_CALL, project=PROJECT)])[0])
