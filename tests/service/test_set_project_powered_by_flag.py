"""Call 1: show or hide the flag."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import problem

#: A Free workspace's project whose own domain depends on its flag, and who owns it.
GARDEN: dict[str, Any] = {"project": "garden", "who": "outsider"}
NOTES: dict[str, Any] = {"project": "notes", "who": "outsider"}


def test_showing_a_hidden_flag_sets_enabled_at(api: CheckedWorld) -> None:
    # given a project whose flag is hidden
    assert api.set_flag(False, project="blog").json["enabled_at"] is None

    shown = api.set_flag(True, project="blog")

    assert shown.status == 200
    assert shown.json == {
        "project_id": api.emulator.projects["blog"],
        "enabled": True,
        "enabled_at": api.emulator.clock.now,
    }


def test_hiding_a_shown_flag_sets_enabled_at_to_null(api: CheckedWorld) -> None:
    hidden = api.set_flag(False, project="shop")

    assert hidden.status == 200
    assert hidden.json == {
        "project_id": api.emulator.project,
        "enabled": False,
        "enabled_at": None,
    }


def test_showing_a_shown_flag_keeps_enabled_at(api: CheckedWorld) -> None:
    first = api.set_flag(True, project="blog").json
    api.advance("1h")

    again = api.set_flag(True, project="blog").json

    assert again == first


def test_hiding_and_showing_a_flag_sets_a_new_enabled_at(api: CheckedWorld) -> None:
    first = api.set_flag(True, project="blog").json["enabled_at"]
    api.advance("1h")
    api.set_flag(False, project="blog")

    second = api.set_flag(True, project="blog").json["enabled_at"]

    assert second == api.emulator.clock.now != first


def test_hiding_is_refused_while_a_free_workspaces_domain_depends_on_it(api: CheckedWorld) -> None:
    since = api.set_flag(True, **GARDEN).json["enabled_at"]

    refused = problem(api.set_flag(False, **GARDEN), 409, "powered_by_flag_required")

    assert refused["retryable"] is False
    still = api.set_flag(True, **GARDEN).json
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
    api: CheckedWorld, where: dict[str, Any]
) -> None:
    api.set_flag(True, **where)

    assert api.set_flag(False, **where).json["enabled"] is False


def test_a_workspace_that_becomes_paid_can_hide_the_flag(api: CheckedWorld) -> None:
    # given the Free workspace whose domain depends on the flag has bought a plan
    state = api.state()
    state["tables"]["organizations"][api.emulator.organizations["hobby"]]["plan"] = "paid"
    api.load(state)

    assert api.set_flag(False, **GARDEN).status == 200


@pytest.mark.parametrize(
    ("body", "named"),
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
    api: CheckedWorld, body: dict[str, Any], named: str
) -> None:
    path = api.project_path("powered-by-flag", "blog")

    response = api.call("PUT", path, key="k", body=body)

    assert named in problem(response, 400, "invalid_request")["detail"]
