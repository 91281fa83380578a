"""Call 1: show or hide the flag."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.checked_world import CheckedCalls
from tests.support.response_checks import expect_problem

#: A Free workspace's project whose own domain depends on its flag, and who owns it.
GARDEN: dict[str, Any] = {"project": "garden", "user": "outsider"}
NOTES: dict[str, Any] = {"project": "notes", "user": "outsider"}


@pytest.mark.over_http
def test_showing_a_hidden_flag_sets_enabled_at(world: CheckedCalls) -> None:
    # given a project whose flag is hidden
    assert world.set_flag(False, project="blog").json["enabled_at"] is None

    response = world.set_flag(True, project="blog")

    assert response.status == 200
    assert response.json == {
        "project_id": world.project_id("blog"),
        "enabled": True,
        "enabled_at": world.timestamp(),
    }


@pytest.mark.over_http
def test_hiding_a_shown_flag_sets_enabled_at_to_null(world: CheckedCalls) -> None:
    hidden = world.set_flag(False, project="shop")

    assert hidden.status == 200
    assert hidden.json == {
        "project_id": world.project_id(),
        "enabled": False,
        "enabled_at": None,
    }


def test_showing_a_shown_flag_keeps_enabled_at(world: CheckedCalls) -> None:
    first = world.set_flag(True, project="blog").json
    world.advance("1h")

    second = world.set_flag(True, project="blog").json

    assert second == first


def test_hiding_and_showing_a_flag_sets_a_new_enabled_at(world: CheckedCalls) -> None:
    first = world.set_flag(True, project="blog").json["enabled_at"]
    world.advance("1h")
    world.set_flag(False, project="blog")

    second = world.set_flag(True, project="blog").json["enabled_at"]

    assert second == world.timestamp() != first


@pytest.mark.over_http
def test_hiding_is_refused_while_a_free_workspaces_domain_depends_on_it(
    world: CheckedCalls,
) -> None:
    since = world.set_flag(True, **GARDEN).json["enabled_at"]

    refused = expect_problem(world.set_flag(False, **GARDEN), 409, "powered_by_flag_required")

    assert refused["retryable"] is False
    still = world.set_flag(True, **GARDEN).json
    assert still["enabled"] is True
    assert still["enabled_at"] == since


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(NOTES, id="a Free workspace's project without a domain"),
        pytest.param({"project": "shop"}, id="a Paid workspace's project with a domain"),
    ],
)
def test_hiding_is_allowed_where_nothing_depends_on_the_flag(
    world: CheckedCalls, where: dict[str, Any]
) -> None:
    world.set_flag(True, **where)

    assert world.set_flag(False, **where).json["enabled"] is False


def test_a_workspace_that_becomes_paid_can_hide_the_flag(world: CheckedCalls) -> None:
    # given that the Free workspace whose domain depends on the flag has bought a plan
    world.intervene("set_plan", organization="hobby", plan="paid")

    assert world.set_flag(False, **GARDEN).status == 200


@pytest.mark.over_http
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "enabled"),
        ({"enabled": 1}, "enabled"),
        ({"enabled": 0}, "enabled"),
        ({"enabled": "true"}, "enabled"),
        ({"enabled": None}, "enabled"),
        ({"enabled": [True]}, "enabled"),
        ({"Enabled": True}, "enabled"),
        ({"enabled": True, "note": "hi"}, "note"),
        ({"enabled": True, "enabled_at": None}, "enabled_at"),
    ],
)
def test_a_body_without_exactly_one_boolean_is_refused_by_name(
    world: CheckedCalls, body: dict[str, Any], field: str
) -> None:
    path = world.project_path("powered-by-flag", "blog")

    response = world.call("PUT", path, key="k", body=body)

    assert field in expect_problem(response, 400, "invalid_request")["detail"]
