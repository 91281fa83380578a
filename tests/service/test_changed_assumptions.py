"""A world whose assumptions change keeps working, and what it already contains follows them."""

from __future__ import annotations

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.support.http_world import HttpWorld

# --- deployments and operations -------------------------------------------------------------------


@pytest.mark.parametrize(
    "transitions",
    [{"queued": "deploying"}, {"queued": ""}, {"building": ""}, {"queued": "", "building": ""}],
)
@pytest.mark.parametrize("after", ["1s", "3s", "7s", "9s"])
@pytest.mark.parametrize("reverse", [False, True])
def test_an_operation_ends_although_the_stages_of_its_deployment_change(
    api: HttpWorld, transitions: dict[str, str], after: str, reverse: bool
) -> None:
    first, second = ({}, transitions) if reverse else (transitions, {})
    api.emulator.set_assumptions({"deployment_transitions": first})
    operation = api.initialize(1).json["id"]
    api.emulator.clock.advance(after)

    api.emulator.set_assumptions({"deployment_transitions": second})
    api.emulator.clock.advance("1h")

    assert api.poll(operation).json["state"] == "succeeded"
    assert api.deployments("?limit=1").json["items"][0]["status"] == "ready"


def test_a_generation_that_was_ignored_stays_ignored(api: HttpWorld) -> None:
    api.emulator.set_assumptions({"source_generation": "ignored"})
    operation = api.initialize(99).json["id"]

    api.emulator.set_assumptions({"source_generation": "checked"})
    api.emulator.clock.advance("1h")

    assert api.poll(operation).json["state"] == "succeeded"


# --- DNS authorizations ---------------------------------------------------------------------------


def authorized_for_an_hour(api: HttpWorld) -> None:
    status = api.dns().json["status"]
    if status == "authorized":
        api.emulator.intervene("move_dns", project="shop", to="revoked")
    api.emulator.intervene("move_dns", project="shop", to="pending")
    api.emulator.intervene("move_dns", project="shop", to="authorized", expires_in="1h")


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("before", [False, True])
def test_an_authorization_expires_once_it_may(api: HttpWorld, before: bool, late: bool) -> None:
    """Whether it was authorized, or its time was over, while it could not expire."""
    never = {"dns_transitions": {"authorized": "revoked"}}
    if before:
        api.emulator.set_assumptions(never)
    authorized_for_an_hour(api)
    api.emulator.set_assumptions(never)
    if late:
        api.emulator.clock.advance("2h")
        assert api.dns().json["status"] == "authorized"

    api.emulator.set_assumptions({"dns_transitions": {}})
    if not late:
        assert api.dns().json["status"] == "authorized"
        api.emulator.clock.advance("1h")

    assert api.dns().json["status"] == "expired"


def test_a_pending_authorization_of_a_scenario_expires_if_that_is_assumed(
    hosting_emulator: HostingEmulator,
) -> None:
    text = """
name: pending
description: A project whose DNS authorization is pending.
world:
  organizations: [{alias: acme}]
  people: [{alias: owner, email: owner@acme.example, organizations: {acme: owner}}]
  projects: [{alias: shop, organization: acme, dns: pending}]
"""
    control = hosting_emulator.control
    control.create_world(
        "pending-expires",
        scenario={"text": text},
        clock={"mode": "frozen"},
        assumptions={"dns_transitions": {"pending": "authorized revoked expired"}},
    )
    try:
        world = control.world("pending-expires")
        api = HttpWorld(world)
        assert api.dns().json["status"] == "pending"

        world.clock.advance("2d")

        assert api.dns().json["status"] == "expired"
    finally:
        control.delete("worlds/pending-expires")


# --- what an intervention expires ----------------------------------------------------------------


@pytest.mark.parametrize("instant", ["outside", "inside"])
def test_what_an_intervention_expires_is_over_at_once(api: HttpWorld, instant: str) -> None:
    api.emulator.set_assumptions({"expiry_instant": instant})
    key = api.create_key().json
    ticket = api.ticket().json

    api.emulator.intervene("expire_key", key=key["key"]["id"])
    api.emulator.intervene("expire_ticket", ticket=ticket["ticket_id"])

    assert api.dns(token=key["value"]).status == 401
    redeemed = api.call("GET", ticket["redeem_url"].partition(".localhost")[2].partition("/")[2])
    assert redeemed.status == 404
    assert listed_ticket(api)["state"] == "expired"


@pytest.mark.parametrize(("instant", "expired"), [("outside", True), ("inside", False)])
def test_the_control_api_knows_what_is_valid_at_its_expiry_time(
    api: HttpWorld, instant: str, expired: bool
) -> None:
    api.emulator.set_assumptions({"expiry_instant": instant})
    key = api.create_key().json
    api.ticket()

    api.emulator.clock.advance("10m")
    assert listed_ticket(api)["state"] == ("expired" if expired else "unused")

    api.emulator.clock.advance_to(key["key"]["expires_at"])
    control = api.emulator.control
    listed = control.get(api.emulator.control_path("keys"))["items"]
    [row] = [row for row in listed if row["id"] == key["key"]["id"]]
    assert row["expired"] is expired
    assert api.dns(token=key["value"]).status == (401 if expired else 200)


@pytest.mark.parametrize("principal", ["person", "person_in_organization", "credential"])
def test_the_last_ticket_of_a_user_is_found_whatever_a_principal_is(
    api: HttpWorld, principal: str
) -> None:
    api.emulator.set_assumptions({"same_principal": principal})
    ticket = api.ticket(token=api.emulator.api_key("owner")).json

    done = api.emulator.intervene("revoke_ticket", person="owner")

    assert ticket["ticket_id"] in str(done)
    assert listed_ticket(api)["state"] == "revoked"


def listed_ticket(api: HttpWorld) -> dict[str, str]:
    """Return the newest ticket of the project, as the control API lists it."""
    projects = api.emulator.control.get(api.emulator.control_path("projects"))["items"]
    [shop] = [project for project in projects if project["alias"] == "shop"]
    return dict(shop["tickets"][0])
