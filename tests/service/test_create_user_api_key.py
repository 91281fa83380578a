"""Call 3: create a user-owned API key."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import moment, problem

PERMISSIONS = [
    "projects.read",
    "projects.write",
    "domains.write",
    "deployments.read",
    "database.read",
    "dns.read",
    "dev_access.write",
]


def test_the_first_creation_shows_the_whole_key(api: CheckedWorld) -> None:
    response = api.create_key("deploy bot", headers={"X-Request-Id": "trace-7"})

    created, key = response.json, response.json["key"]
    assert response.status == 201
    assert created.keys() == {"replayed", "value", "request_id", "key"}
    assert created["replayed"] is False
    assert created["request_id"] == "trace-7"
    assert re.fullmatch("phk_[A-Za-z0-9_-]{43}", created["value"])
    assert key == {
        "id": key["id"],
        "organization_id": api.emulator.organization,
        "name": "deploy bot",
        "obfuscated_value": f"phk_…{created['value'][-4:]}",
        "permissions": PERMISSIONS,
        "created_at": api.emulator.clock.now,
        "expires_at": key["expires_at"],
    }
    assert moment(key["expires_at"]) - api.now() == timedelta(days=90)


def test_the_value_of_a_key_is_not_stored(api: CheckedWorld) -> None:
    """Credential material is returned once; a world on disk holds its digest alone."""
    value = api.create_key().json["value"]

    assert value.removeprefix("phk_") not in json.dumps(api.state())


def test_each_creation_without_a_request_id_gets_a_new_one(api: CheckedWorld) -> None:
    ids = {api.create_key().json["request_id"] for _ in range(3)}

    assert len(ids) == 3


def test_each_creation_makes_another_key(api: CheckedWorld) -> None:
    one, other = api.create_key("same").json, api.create_key("same").json

    assert one["value"] != other["value"]
    assert one["key"]["id"] != other["key"]["id"]


@pytest.mark.parametrize(
    ("who", "organization"),
    [("owner", "acme"), ("member", "acme"), ("reader", "acme"), ("outsider", "hobby")],
)
def test_any_member_can_create_a_key_even_at_zero_credits(
    api: CheckedWorld, who: str, organization: str
) -> None:
    api.emulator.intervene("set_credits", organization=organization, credits=0)
    response = api.create_key(who=who, organization=organization)

    assert response.status == 201
    assert response.json["key"]["organization_id"] == api.emulator.organizations[organization]


@pytest.mark.parametrize("name", ["x", "n" * 64, "é" * 64, "🔑" * 64, " ", 'a "quoted"\nname'])
def test_a_name_has_1_to_64_characters_of_any_kind(api: CheckedWorld, name: str) -> None:
    assert api.create_key(name).json["key"]["name"] == name


@pytest.mark.parametrize("name", ["", "n" * 65, "🔑" * 65, None, 7, True, ["ci"], {"is": "ci"}])
def test_a_name_that_is_not_a_text_of_1_to_64_characters_is_refused(
    api: CheckedWorld, name: Any
) -> None:
    assert "name" in problem(api.create_key(name), 400, "invalid_request")["detail"]


def test_a_token_without_a_session_cannot_create_a_key(api: CheckedWorld) -> None:
    token = api.emulator.token("owner", interactive=False)

    problem(api.create_key(token=token), 403, "interactive_login_required")


def test_an_api_key_cannot_create_another(api: CheckedWorld) -> None:
    value = api.create_key().json["value"]

    problem(api.create_key(token=value), 403, "interactive_login_required")


def test_a_key_cannot_be_created_where_the_organization_has_no_permissions(
    api: CheckedWorld,
) -> None:
    state = api.state()
    del state["tables"]["organizations"][api.emulator.organization]["permissions"]
    api.load(state)

    refused = problem(api.create_key(), 503, "api_key_permissions_unavailable")

    assert refused["retryable"] is True


def test_a_former_member_cannot_create_a_key_with_an_earlier_token(api: CheckedWorld) -> None:
    # given a token from before its owner left the organization
    state = api.state()
    memberships = state["tables"]["memberships"]
    reader = next(p for p, row in state["tables"]["people"].items() if row["alias"] == "reader")
    del memberships[f"{api.emulator.organization}/{reader}"]
    token = api.emulator.token("reader")
    api.load(state)

    problem(api.create_key(token=token), 404, "resource_not_found")
