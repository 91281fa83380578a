"""Outcomes, and changes of deployments, are recorded, replayed and shrunk like the rest of a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hosting_emulator.scenario.reading import read_scenario
from tests.support.recorded_sessions import SessionPast, shrink
from tests.support.scenario_files import check_scenario
from tests.support.world_changes import ControlledWorld

Changes = list[tuple[str, dict[str, Any]]]
#: An outcome, and the interventions before the operation begins and while it is in progress.
SESSIONS: dict[str, tuple[Mapping[str, Any], Changes, Changes]] = {
    "fail": (
        {"fail": {"code": "dns_lost"}, "while": {"dns": "revoked"}},
        [],
        [("move_dns", {"project": "shop", "to": "revoked"})],
    ),
    "cancel": (
        {"cancel": {"phase": "deploying"}, "while": {"plan": "free", "not": {"dns": "pending"}}},
        [],
        [("set_plan", {"organization": "acme", "plan": "free"})],
    ),
    "reconcile": (
        {
            "reconcile": {"phase": "deploying", "then": "exhaust", "each": "1s"},
            "while": {"provider": "failing"},
        },
        [],
        [("fail_database_provider", {"project": "shop"})],
    ),
    "stick while": (
        {"stick": {"phase": "deploying"}, "while": {"provider": "failing"}},
        [("fail_database_provider", {"project": "shop"})],
        [],
    ),
    "fail leaving hosts": ({"fail": {"leaves": {"hosts": ["mail"]}}}, [], []),
    "cancel leaving DNS": ({"cancel": {"leaves": {"dns": "revoked", "hosts": ["mail"]}}}, [], []),
    "stick for": ({"stick": {"phase": "deploying", "for": "5m"}}, [], []),
}


def record(name: str) -> tuple[str, str]:
    """Record a session with an outcome; return the file, and the condition that names its last step."""
    outcome, before, under_way = SESSIONS[name]
    api = ControlledWorld()
    api.dns()
    api.add_outcome(**outcome)
    for word, fields in before:
        api.intervene(word, **fields)
    operation = api.apply_domains().json["id"]
    api.advance("3s")
    for word, fields in under_way:
        api.intervene(word, **fields)
    api.deployments()
    api.advance("1m")
    api.poll(operation)
    text = SessionPast(api).record().text
    steps = read_scenario(text, "recorded.yaml").source.data["story"]
    return text, f"n={len(steps)}"


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_with_an_outcome_is_recorded_and_passes_again(name: str) -> None:
    text, _ = record(name)

    report = check_scenario(text, "recorded.yaml")

    assert report["passed"], report


@pytest.mark.parametrize("name", SESSIONS)
def test_a_shrunk_recording_keeps_the_outcome_that_decides_the_last_response(name: str) -> None:
    text, last_step = record(name)

    shrunk = shrink(text, last_step)

    kind = next(iter(SESSIONS[name][0]))
    assert f"{kind}:" in shrunk.text
    assert "list_deployments" not in shrunk.text
    assert check_scenario(shrunk.text, "recorded.yaml")["passed"]


@pytest.mark.parametrize(
    "word", ["remove_deployments", "supersede_deployment", "fail_ready_deployment"]
)
def test_a_change_of_a_deployment_is_recorded_and_passes_again(word: str) -> None:
    api = ControlledWorld()
    deployments = api.deployments("?limit=2").json["items"]
    ready = next(item["id"] for item in deployments if item["status"] == "ready")
    api.intervene(word, project="shop", deployment=ready)
    api.deployments("?limit=2")

    text = SessionPast(api).record().text

    assert f"{word}:" in text
    assert check_scenario(text, "recorded.yaml")["passed"]
