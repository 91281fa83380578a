"""Each part of the responses of a clean run is altered once, within the contract where it allows that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.alterations import alteration_of, plan_alterations
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.trials import read_trial
from tests.lab.judge.samples import requests

ITEMS = [{"id": "1", "url": "https://a.example"}, {"id": "2", "url": "https://b.example"}]
HEADERS = (("Content-Type", "application/json"), ("Date", "today"))


def responses(call: str, *contents: Any) -> list[NumberedRequest]:
    """Return requests to a call with these bodies in their responses."""
    numbered = requests(*[call] * len(contents))
    return [
        replace(request, known_response=content, response_headers=HEADERS)
        for request, content in zip(numbered, contents, strict=True)
    ]


DEPLOYMENTS = responses("list_deployments", {"items": ITEMS, "next_cursor": "abc"}, {"items": []})


def test_each_part_is_altered_once() -> None:
    assert [str(trial) for trial in plan_alterations(DEPLOYMENTS)] == [
        "alter/list_deployments/2xx/reorder:/items",
        "alter/list_deployments/2xx/remove:/items",
        "alter/list_deployments/2xx/remove:/items/*/id",
        "alter/list_deployments/2xx/remove:/items/*/url",
        "alter/list_deployments/2xx/remove:/next_cursor",
        "alter/list_deployments/2xx/status",
        "alter/list_deployments/2xx/header:Content-Type",
    ]


def test_a_boolean_is_also_inverted() -> None:
    flag = responses("set_project_powered_by_flag", {"enabled": True})
    trial = AlteredTrial("set_project_powered_by_flag", "2xx", "set", "/enabled")
    assert trial in plan_alterations(flag)
    assert alteration_of(trial, flag).fault["alter"]["set"] == {"/enabled": False}


def test_a_valid_authorization_is_also_shown_as_revoked() -> None:
    trial = AlteredTrial("get_dns_authorization", "2xx", "set", "/status")
    valid = responses(trial.call, {"status": "authorized"})
    assert trial in plan_alterations(valid)
    assert alteration_of(trial, valid).fault["alter"]["set"] == {"/status": "revoked"}

    assert trial not in plan_alterations(responses(trial.call, {"status": "pending"}))
    assert trial not in plan_alterations(responses(trial.call, {"zone": "authorized"}))


@pytest.mark.parametrize(
    ("text", "is_allowed"),
    [
        ("reorder:/items", True),
        ("remove:/items/*/url", True),
        ("remove:/items/*/id", False),
        ("remove:/items", False),
        ("header:Content-Type", False),
        ("status", False),
    ],
)
def test_an_alteration_that_the_contract_forbids_is_breaking(text: str, is_allowed: bool) -> None:
    trial = AlteredTrial.read(f"alter/list_deployments/2xx/{text}")
    alteration = alteration_of(trial, DEPLOYMENTS)
    assert alteration.is_allowed == is_allowed
    assert alteration.fault["alter"].get("breaking", False) != is_allowed


def test_only_the_first_problem_is_altered() -> None:
    problem = {"code": "resource_not_found", "status": 404}
    numbered = responses("get_dns_authorization", {}, problem)
    refused = structs.replace(numbered[1].exchange, status=404, code="resource_not_found")
    trial = AlteredTrial("get_dns_authorization", "4xx", "remove", "/code")
    fault = alteration_of(trial, [numbered[0], replace(numbered[1], exchange=refused)]).fault
    assert (fault["skip_first"], fault["times"]) == (1, 1)


def test_a_part_that_no_response_has_cannot_be_altered() -> None:
    trial = AlteredTrial.read("alter/list_deployments/2xx/remove:/total")
    message = "no response to list_deployments in the clean run has total"
    with pytest.raises(ValueError, match=f"^{message}$"):
        alteration_of(trial, DEPLOYMENTS)


@pytest.mark.parametrize("status", [0, 302])
def test_a_response_that_was_lost_or_redirects_is_not_altered(status: int) -> None:
    (request, *_) = DEPLOYMENTS
    exchange = structs.replace(request.exchange, status=status)
    assert plan_alterations([replace(request, exchange=exchange)]) == ()


def test_a_class_of_statuses_that_no_response_has_cannot_be_altered() -> None:
    trial = AlteredTrial.read("alter/list_deployments/4xx/status")
    message = "the clean run has no response to list_deployments with a status of 4xx"
    with pytest.raises(ValueError, match=f"^{message}$"):
        alteration_of(trial, DEPLOYMENTS)


@pytest.mark.parametrize("trial", plan_alterations(DEPLOYMENTS), ids=str)
def test_a_trial_is_read_from_the_text_that_a_report_shows(trial: AlteredTrial) -> None:
    assert read_trial(str(trial)) == trial
