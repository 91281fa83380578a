"""Call 7: issue a dev access ticket. `test_tickets.py` redeems it."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.support.checked_world import CheckedCalls, CheckedWorld
from tests.support.response_checks import read_timestamp


@pytest.mark.over_http
def test_a_ticket_opens_the_dev_origin_for_ten_minutes(world: CheckedCalls) -> None:
    response = world.ticket()

    ticket = response.json
    assert response.status == 201
    assert ticket.keys() == {
        "ticket_id",
        "project_id",
        "environment_id",
        "origin",
        "redeem_url",
        "expires_at",
    }
    assert ticket["project_id"] == world.project_id()
    assert read_timestamp(ticket["expires_at"]) - world.now() == timedelta(minutes=10)


@pytest.mark.over_http
def test_the_origin_and_the_redeem_url_have_the_form_of_the_contract(world: CheckedCalls) -> None:
    ticket = world.ticket().json

    words = re.fullmatch(r"https://dev-([a-z]+)-([a-z]+)-([a-z]+)\.(.+)", ticket["origin"])
    assert words
    assert words[4].endswith("dev.localhost")
    start = f"{ticket['origin']}/.service/dev-access/redeem?stage=dev&ticket="
    assert ticket["redeem_url"].startswith(start)
    assert re.fullmatch("[A-Za-z0-9_-]{43}", ticket["redeem_url"].removeprefix(start))


def test_the_origin_and_the_environment_of_a_project_never_change(world: CheckedCalls) -> None:
    first = world.ticket().json
    operation = world.apply_domains().json
    world.finish(operation["id"])

    second = world.ticket().json

    assert (first["origin"], first["environment_id"]) == (
        second["origin"],
        second["environment_id"],
    )
    assert first["ticket_id"] != second["ticket_id"]
    assert first["redeem_url"] != second["redeem_url"]


def test_each_project_has_its_own_origin_and_environment(world: CheckedCalls) -> None:
    tickets = [world.ticket(project=project).json for project in ("shop", "blog", "docs", "labs")]

    assert len({ticket["origin"] for ticket in tickets}) == 4
    assert len({ticket["environment_id"] for ticket in tickets}) == 4


def test_the_secret_of_a_ticket_is_not_stored(world: CheckedCalls) -> None:
    ticket = world.ticket().json
    secret = ticket["redeem_url"].rpartition("=")[2]

    state = json.dumps(world.state())

    assert secret not in state
    assert ticket["ticket_id"] in state


@pytest.mark.over_http
def test_an_idempotency_key_on_the_ticket_call_is_ignored(world: CheckedCalls) -> None:
    # given that the contract lists no Idempotency-Key for this call
    first = world.ticket(key="same").json
    second = world.ticket(key="same").json

    assert first["ticket_id"] != second["ticket_id"]


def test_two_worlds_have_different_dev_hosts(api: CheckedWorld) -> None:
    # given a world like this one in everything but its name
    fork = api.emulator.copy()
    mine = urlsplit(api.ticket().json["origin"]).hostname

    try:
        path = f"/worlds/{fork.name}" + api.project_path("dev-access-tickets")
        token = api.emulator.control.world(fork.name).mint_token("owner").access_token
        root = api.emulator.base_url.partition("/worlds/")[0]
        api.emulator.base_url = root
        theirs = urlsplit(api.send("POST", path, token=token).json["origin"]).hostname
    finally:
        api.emulator.control.world(fork.name).delete()

    assert mine != theirs
