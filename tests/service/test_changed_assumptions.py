"""A world whose assumptions change keeps working, and what it already contains follows them."""

from __future__ import annotations

from tests.support.http_world import HttpWorld


def test_an_operation_whose_generation_was_ignored_still_succeeds_after_the_assumption_changes(
    api: HttpWorld,
) -> None:
    api.emulator.set_assumptions({"source_generation": "ignored"})
    operation = api.initialize(99).json["id"]

    api.emulator.set_assumptions({"source_generation": "checked"})
    api.advance("1h")

    assert api.poll(operation).json["state"] == "succeeded"


# --- what an intervention expires ----------------------------------------------------------------


def test_a_key_or_ticket_that_an_intervention_expires_is_refused_at_once(api: HttpWorld) -> None:
    key = api.create_key().json
    ticket = api.ticket().json

    api.intervene("expire_key", key=key["key"]["id"])
    api.intervene("expire_ticket", ticket=ticket["ticket_id"])

    assert api.dns(token=key["value"]).status == 401
    redeemed = api.call("GET", ticket["redeem_url"].partition(".localhost")[2].partition("/")[2])
    assert redeemed.status == 404
    assert listed_ticket(api)["state"] == "expired"


def test_at_its_expiry_time_a_ticket_or_key_is_no_longer_valid(api: HttpWorld) -> None:
    """The fixed choice `expiry_instant`."""
    key = api.create_key().json
    api.ticket()

    api.advance("10m")
    assert listed_ticket(api)["state"] == "expired"

    api.emulator.clock.advance_to(key["key"]["expires_at"])
    control = api.emulator.control
    listed = control.get(api.emulator.control_path("keys"))["items"]
    [row] = [row for row in listed if row["id"] == key["key"]["id"]]
    assert row["expired"] is True
    assert api.dns(token=key["value"]).status == 401


def test_the_last_ticket_of_a_user_is_found_when_an_api_key_issued_it(api: HttpWorld) -> None:
    ticket = api.ticket(token=api.emulator.api_key("owner")).json

    sentence = api.intervene("revoke_ticket", user="owner")

    assert ticket["ticket_id"] in str(sentence)
    assert listed_ticket(api)["state"] == "revoked"


def listed_ticket(api: HttpWorld) -> dict[str, str]:
    """Return the newest ticket of the project, as the control API lists it."""
    projects = api.emulator.control.get(api.emulator.control_path("projects"))["items"]
    [shop] = [project for project in projects if project["alias"] == "shop"]
    return dict(shop["tickets"][0])
