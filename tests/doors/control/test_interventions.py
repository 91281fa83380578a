"""Interventions over the control API: their list, their responses and their refusals."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.checked_world import CheckedWorld
from tests.support.stories import schema_check


def test_all_interventions_are_listed_with_their_fields(api: CheckedWorld):
    listed = api.emulator.control.contract("interventions")

    in_scenarios = schema_check().schema["$defs"]["Intervention"]["properties"]
    assert {kind["name"] for kind in listed} == in_scenarios.keys()
    move_dns = next(kind for kind in listed if kind["name"] == "move_dns")
    required = [field["name"] for field in move_dns["fields"] if field["required"]]
    assert required == ["to"]


def test_the_response_names_the_intervention_and_describes_the_change(api: CheckedWorld):
    control = api.emulator.control
    operation = api.initialize().json["id"]

    path = api.emulator.control_path("interventions")
    response = control.post(path, {"stick_operation": {"project": "shop"}})

    assert set(response) == {"intervention", "message"}
    assert response["intervention"] == "stick_operation"
    assert operation in response["message"]


@pytest.mark.parametrize(
    ("intervention", "fields", "status", "words"),
    [
        ("stick_operatoin", {"project": "shop"}, 400, "stick_operation"),
        ("stick_operation", {"projet": "shop"}, 400, "project"),
        ("set_plan", {"organization": "acme", "plan": "gold"}, 400, "set_plan.plan"),
        ("stick_operation", {"project": "shpo"}, 409, "shop"),
        ("stick_operation", {"project": "shop"}, 409, "shop"),
        ("revoke_key", {"key": "x"}, 409, "'x'"),
    ],
)
def test_a_refused_intervention_changes_nothing(
    api: CheckedWorld, intervention: str, fields: dict[str, Any], status: int, words: str
):
    before = api.state()

    with pytest.raises(ControlRefused, match=words) as caught:
        api.intervene(intervention, **fields)

    assert caught.value.status == status
    assert api.state() == before


def test_an_intervention_does_not_change_other_worlds(api: CheckedWorld):
    control = api.emulator.control
    other_world = control.world(api.emulator.name).copy().name
    before = control.world(other_world).export()

    api.intervene("move_dns", project="shop", to="revoked")

    assert api.dns().json["status"] == "revoked"
    assert control.world(other_world).export() == before
    control.world(other_world).delete()


def test_a_stuck_operation_refuses_to_be_awaited_or_stepped(api: CheckedWorld):
    operation = api.apply_domains().json["id"]
    api.intervene("stick_operation", project="shop")

    with pytest.raises(ControlRefused, match="stick_operation"):
        api.emulator.clock.until(operation)
    with pytest.raises(ControlRefused, match="stuck"):
        api.emulator.control.post(f"worlds/{api.emulator.name}/operations/{operation}/step")

    api.intervene("release_operation", project="shop")
    api.emulator.clock.until(operation)
    assert api.poll(operation).json["state"] == "succeeded"
