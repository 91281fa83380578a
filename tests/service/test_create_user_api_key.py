"""Call 3: create a user-owned API key."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from tests.support.checked_world import CheckedCalls
from tests.support.response_checks import expect_problem, read_timestamp

PERMISSIONS = [
    "projects.read",
    "projects.write",
    "domains.write",
    "deployments.read",
    "database.read",
    "dns.read",
    "dev_access.write",
]


@pytest.mark.over_http
def test_the_first_creation_shows_the_whole_key(world: CheckedCalls) -> None:
    response = world.create_key("deploy bot", headers={"X-Request-Id": "trace-7"})

    created = response.json
    key = response.json["key"]
    assert response.status == 201
    assert created.keys() == {"replayed", "value", "request_id", "key"}
    assert created["replayed"] is False
    assert created["request_id"] == "trace-7"
    assert re.fullmatch("phk_[A-Za-z0-9_-]{43}", created["value"])
    assert key == {
        "id": key["id"],
        "organization_id": world.organization_id(),
        "name": "deploy bot",
        "obfuscated_value": f"phk_…{created['value'][-4:]}",
        "permissions": PERMISSIONS,
        "created_at": world.timestamp(),
        "expires_at": key["expires_at"],
    }
    assert read_timestamp(key["expires_at"]) - world.now() == timedelta(days=90)


def test_the_value_of_a_key_is_not_stored(world: CheckedCalls) -> None:
    """Credential material is returned once. A world on disk holds only its digest."""
    value = world.create_key().json["value"]

    assert value.removeprefix("phk_") not in json.dumps(world.state())


@pytest.mark.over_http
def test_each_creation_without_a_request_id_gets_a_new_one(world: CheckedCalls) -> None:
    ids = {world.create_key().json["request_id"] for _ in range(3)}

    assert len(ids) == 3


def test_each_creation_makes_another_key(world: CheckedCalls) -> None:
    first = world.create_key("same").json
    second = world.create_key("same").json

    assert first["value"] != second["value"]
    assert first["key"]["id"] != second["key"]["id"]


@pytest.mark.parametrize(
    ("user", "organization"),
    [("owner", "acme"), ("member", "acme"), ("reader", "acme"), ("outsider", "hobby")],
)
def test_any_member_can_create_a_key_even_at_zero_credits(
    world: CheckedCalls, user: str, organization: str
) -> None:
    world.intervene("set_credits", organization=organization, credits=0)
    response = world.create_key(user=user, organization=organization)

    assert response.status == 201
    assert response.json["key"]["organization_id"] == world.organization_id(organization)


@pytest.mark.over_http
@pytest.mark.parametrize("name", ["x", "n" * 64, "é" * 64, "🔑" * 64, " ", 'a "quoted"\nname'])
def test_a_name_has_1_to_64_characters_of_any_kind(world: CheckedCalls, name: str) -> None:
    assert world.create_key(name).json["key"]["name"] == name


@pytest.mark.over_http
@pytest.mark.parametrize("name", ["", "n" * 65, "🔑" * 65, None, 7, True, ["ci"], {"is": "ci"}])
def test_a_name_that_is_not_a_text_of_1_to_64_characters_is_refused(
    world: CheckedCalls, name: Any
) -> None:
    assert "name" in expect_problem(world.create_key(name), 400, "invalid_request")["detail"]


@pytest.mark.over_http
def test_a_token_without_a_session_cannot_create_a_key(world: CheckedCalls) -> None:
    token = world.token("owner", interactive=False)

    expect_problem(world.create_key(token=token), 403, "interactive_login_required")


def test_an_api_key_cannot_create_another(world: CheckedCalls) -> None:
    value = world.create_key().json["value"]

    expect_problem(world.create_key(token=value), 403, "interactive_login_required")


@pytest.mark.over_http
def test_a_key_cannot_be_created_where_the_organization_has_no_permissions(
    world: CheckedCalls,
) -> None:
    world.intervene("set_permissions", organization="acme", permissions=[])

    refused = expect_problem(world.create_key(), 503, "api_key_permissions_unavailable")

    assert refused["retryable"] is True


def test_a_former_member_cannot_create_a_key_with_an_earlier_token(world: CheckedCalls) -> None:
    # given a token from before its user left the organization
    token = world.token("reader")
    world.intervene("remove_member", organization="acme", user="reader")

    expect_problem(world.create_key(token=token), 404, "resource_not_found")
