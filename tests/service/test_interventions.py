"""Interventions over the control API: what each changes in the responses of the eight calls and the poll."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.checked_world import CheckedWorld
from tests.support.http_world import HttpWorld
from tests.support.response_checks import problem
from tests.support.stories import schema_check


def test_all_interventions_are_listed_with_their_fields(api: CheckedWorld):
    listed = api.emulator.control.contract("interventions")

    in_scenarios = schema_check().schema["$defs"]["Intervention"]["properties"]
    assert {kind["word"] for kind in listed} == in_scenarios.keys()
    move_dns = next(kind for kind in listed if kind["word"] == "move_dns")
    required = [field["name"] for field in move_dns["fields"] if field["required"]]
    assert required == ["project", "to"]


def test_the_response_names_the_intervention_and_describes_the_change(api: CheckedWorld):
    control = api.emulator.control
    operation = api.initialize().json["id"]

    path = api.emulator.control_path("interventions")
    response = control.post(path, {"stick_operation": {"project": "shop"}})

    assert response == {
        "intervention": "stick_operation",
        "said": f"operation {operation} is stuck while queued",
    }


@pytest.mark.parametrize(
    ("word", "fields", "status", "named"),
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
    api: CheckedWorld, word: str, fields: dict[str, Any], status: int, named: str
):
    before = api.state()

    with pytest.raises(ControlRefused, match=named) as caught:
        api.intervene(word, **fields)

    assert caught.value.status == status
    assert api.state() == before


def test_an_intervention_does_not_change_other_worlds(api: CheckedWorld):
    control = api.emulator.control
    other = control.world(api.emulator.name).copy()["name"]
    before = control.world(other).export()

    api.intervene("move_dns", project="shop", to="revoked")

    assert api.dns().json["status"] == "revoked"
    assert control.world(other).export() == before
    control.world(other).delete()


# --- The flag (call 1) ---------------------------------------------------------------------------


def test_a_domain_of_a_free_workspace_needs_the_flag(api: CheckedWorld):
    api.intervene("set_plan", organization="acme", plan="free")
    problem(api.set_flag(False), 409, "powered_by_flag_required")

    api.intervene("disconnect_domain", project="shop")
    assert api.set_flag(False).json["enabled"] is False

    api.set_flag(True)
    api.intervene("connect_domain", project="shop", domain="new.example")
    problem(api.set_flag(False), 409, "powered_by_flag_required")


def test_only_the_new_owner_can_show_the_flag_after_a_transfer(api: CheckedWorld):
    api.intervene("transfer_ownership", organization="acme", to="member")

    assert api.set_flag(True, who="member").status == 200
    problem(api.set_flag(True), 404, "resource_not_found")


# --- Operations (calls 2 and 4, and the poll) ----------------------------------------------------


def test_a_stuck_operation_does_not_move_until_it_is_released(api: CheckedWorld):
    operation = api.apply_domains().json["id"]
    api.intervene("stick_operation", project="shop")

    api.advance("1h")
    assert api.poll(operation).json["state"] == "queued"
    with pytest.raises(ControlRefused, match="stick_operation"):
        api.emulator.clock.until(operation)
    with pytest.raises(ControlRefused, match="stuck"):
        api.emulator.control.post(f"worlds/{api.emulator.name}/operations/{operation}/step")

    api.intervene("release_operation", project="shop")
    api.emulator.clock.until(operation)
    assert api.poll(operation).json["state"] == "succeeded"


def test_a_failed_operation_has_the_error_of_the_intervention(api: CheckedWorld):
    operation = api.initialize().json["id"]

    api.intervene("fail_operation", operation=operation, code="quota", message="Full.")

    polled = api.poll(operation).json
    assert (polled["state"], polled["error"]["code"], polled["error"]["message"]) == (
        *("failed", "quota"),
        "Full.",
    )
    assert api.deployments().json["items"][0]["status"] == "failed"


def test_a_cancelled_operation_cancels_its_deployment(api: CheckedWorld):
    operation = api.initialize().json["id"]

    api.intervene("cancel_operation", operation=operation)

    assert api.poll(operation).json["state"] == "cancelled"
    assert api.deployments().json["items"][0]["status"] == "cancelled"


def test_an_exhausted_reconciliation_fails_the_operation(api: CheckedWorld):
    operation = api.initialize().json["id"]
    states = []
    for word in ("require_reconciliation", "run_reconciliation"):
        api.intervene(word, operation=operation)
        states.append(api.poll(operation).json["reconciliation"]["state"])

    api.intervene("exhaust_reconciliation", operation=operation)

    ended = api.poll(operation).json
    assert states == ["required", "running"]
    assert (ended["state"], ended["error"]["code"]) == ("failed", "reconciliation_exhausted")
    assert "reconciliation" not in ended


def test_a_completed_reconciliation_alone_does_not_end_the_operation(api: CheckedWorld):
    operation = api.initialize().json["id"]
    for word in ("require", "run", "complete"):
        api.intervene(f"{word}_reconciliation", operation=operation)

    polled = api.poll(operation).json
    assert (polled["state"], polled["reconciliation"]["state"]) == ("queued", "completed")
    api.emulator.clock.until(operation)
    assert api.poll(operation).json["state"] == "succeeded"


def test_an_operation_waits_until_a_held_claim_is_released(api: CheckedWorld):
    api.intervene("hold_claim", project="shop")
    waiting = api.initialize().json
    api.advance("1h")

    assert api.poll(waiting["id"]).json["state"] == "queued"
    holder = api.poll(waiting["blocking_operation_id"]).json
    assert holder["state"] == "running"

    api.intervene("release_claim", project="shop")
    api.emulator.clock.until(waiting["id"])
    assert api.poll(waiting["id"]).json["state"] == "succeeded"


# --- Keys (call 3) -------------------------------------------------------------------------------


def test_an_uncertain_key_creation_is_replayed_with_the_same_name_and_key(api: CheckedWorld):
    api.intervene("leave_key_creation_uncertain")

    lost = api.send(
        "POST",
        f"/v1/organizations/{api.emulator.organization}/user-api-keys",
        body={"name": "ci"},
        key="k",
    )
    problem(lost, 503, "api_key_creation_uncertain")
    replay = api.create_key("ci", key="k").json
    assert (replay["replayed"], replay["value"], replay["key"]["name"]) == (True, None, "ci")


@pytest.mark.parametrize("word", ["expire_key", "revoke_key"])
def test_an_expired_or_revoked_key_is_unauthenticated(api: CheckedWorld, word: str):
    created = api.create_key("ci").json
    assert api.dns(token=created["value"]).status == 200

    api.intervene(word, key=created["key"]["id"])

    problem(api.dns(token=created["value"]), 401, "unauthenticated")


# --- DNS (call 5) --------------------------------------------------------------------------------


def test_move_dns_reaches_every_state(api: CheckedWorld):
    authorizations = [api.dns(project="labs").json]
    for to in ("pending", "authorized", "revoked", "pending", "authorized"):
        api.intervene("move_dns", project="labs", to=to, zone="labs.test", expires_in="1h")
        authorizations.append(api.dns(project="labs").json)
    api.advance("1h")
    authorizations.append(api.dns(project="labs").json)

    assert [authorization["status"] for authorization in authorizations] == [
        *("not_authorized", "pending", "authorized", "revoked", "pending", "authorized"),
        "expired",
    ]
    assert [authorization["zone"] for authorization in authorizations] == [None] + ["labs.test"] * 6


# --- Deployments (call 6) ------------------------------------------------------------------------


def test_deployments_can_be_added_and_the_latest_one_failed(api: CheckedWorld):
    api.intervene("add_deployments", project="labs", count=2, status="failed")
    assert [d["status"] for d in api.deployments(project="labs").json["items"]] == ["failed"] * 2

    operation = api.initialize(0, project="labs").json
    api.intervene("fail_deployment", project="labs", message="Boom.")

    newest = api.deployments(project="labs").json["items"][0]
    assert (newest["id"], newest["status"]) == (operation["deployment_id"], "failed")
    assert api.poll(operation["id"]).json["error"]["message"] == "Boom."


def test_a_removed_member_finds_nothing_until_added_again(api: CheckedWorld):
    assert api.deployments(who="reader").status == 200

    api.intervene("remove_member", organization="acme", person="reader")
    problem(api.deployments(who="reader"), 404, "resource_not_found")

    api.intervene("add_member", organization="acme", person="reader", role="owner")
    assert api.deployments(who="reader", project="labs").status == 200


def test_set_role_takes_effect_at_once(api: CheckedWorld):
    api.intervene("set_role", project="shop", person="reader", role="none")
    problem(api.deployments(who="reader"), 404, "resource_not_found")

    api.intervene("set_role", project="shop", person="reader", role="maintainer")
    assert api.apply_domains(who="reader").status == 202


# --- Tickets (call 7) ----------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["expire_ticket", "revoke_ticket"])
def test_an_expired_or_revoked_ticket_cannot_be_ended_again(api: CheckedWorld, word: str):
    ticket = api.ticket().json

    assert ticket["ticket_id"] in api.intervene(word, person="owner")

    with pytest.raises(ControlRefused, match="already"):
        api.intervene(word, ticket=ticket["ticket_id"])
    assert api.ticket().status == 201


# --- Databases (call 8) --------------------------------------------------------------------------


def test_a_failing_database_provider_gives_a_problem_until_it_recovers(api: CheckedWorld):
    api.intervene("fail_database_provider", project="shop", environment="prod")

    problem(api.compute("?environment=prod"), 503, "service_unavailable")
    assert api.compute("?environment=dev").status == 200

    api.intervene("recover_database_provider", project="shop")
    assert api.compute("?environment=prod").status == 200


def test_set_database_shows_in_the_compute_configuration(api: CheckedWorld):
    api.intervene("set_database", project="shop", environment="dev", state="absent")
    assert api.compute().json["database"] is None

    api.intervene("set_database", project="shop", state="suspended", suspend_timeout_seconds=0)
    api.intervene("set_database", project="shop", state="resizing", pending_state="ready")
    database = api.compute().json["database"]
    assert (database["state"], database["pending_state"], database["suspend_timeout_seconds"]) == (
        *("resizing", "ready"),
        0,
    )

    api.intervene("set_database", project="shop", data_mode="shared")
    both = [api.compute(f"?environment={name}").json for name in ("dev", "prod")]
    assert both[0]["database"] == both[1]["database"]
    assert {configuration["data_mode"] for configuration in both} == {"shared"}


@pytest.mark.parametrize("word", ["revoke_key", "expire_key"])
def test_an_ambiguous_key_name_is_refused_with_the_ids(api: CheckedWorld, word: str):
    ids = [api.create_key("ci", who=who).json["key"]["id"] for who in ("owner", "member")]

    with pytest.raises(
        ControlRefused, match=f"2 active API keys are named 'ci'.* {ids[0]}, {ids[1]}"
    ):
        api.intervene(word, key="ci")

    api.intervene(word, key=ids[0])
    api.intervene(word, key="ci")  # only one active key has this name now


def test_a_replay_does_not_use_up_an_uncertain_creation(api: CheckedWorld):
    api.create_key("first", key="first")
    api.intervene("leave_key_creation_uncertain")

    calls = HttpWorld(
        api.emulator
    )  # the refused request creates the key, which CheckedWorld does not allow
    assert calls.create_key("first", key="first").status == 200
    problem(calls.create_key("second", key="second"), 503, "api_key_creation_uncertain")
    assert calls.create_key("second", key="second").json["replayed"] is True
