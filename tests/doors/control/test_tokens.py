"""Access tokens and API keys from the control API: their owner, their lifetime and their limits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.forged_tokens import token_parts
from tests.support.http_world import HttpWorld
from tests.support.response_checks import read_timestamp


@pytest.mark.parametrize(
    ("members", "has_organization"),
    [({}, True), ({"organization": "acme"}, True), ({"organization": None}, False)],
)
def test_a_token_may_be_for_no_organization(
    api: HttpWorld, members: dict[str, Any], has_organization: bool
):
    world = api.emulator
    response = world.control.post(world.control_path("tokens"), {"user": "owner", **members})

    assert ("org_id" in token_parts(response["access_token"])[1]) == has_organization


@pytest.mark.parametrize(
    ("lifetime", "seconds"), [("1s", 1), ("90m", 5400), ("3650d", 315_360_000), (None, 315_360_000)]
)
def test_a_token_expires_at_the_next_whole_second_after_its_lifetime(
    api: HttpWorld, lifetime: str | None, seconds: int
):
    world = api.emulator
    world.clock.freeze()
    whole_s = read_timestamp(world.clock.now).timestamp() // 1 + 1
    world.clock.advance("1ms")

    response = world.control.post(
        world.control_path("tokens"), {"user": "owner", "lifetime": lifetime}
    )

    assert token_parts(response["access_token"])[1]["exp"] == whole_s + seconds
    assert response["expires_in"] == seconds
    assert read_timestamp(response["expires_at"]).timestamp() == whole_s + seconds


def test_a_token_is_accepted_until_its_lifetime_has_passed(api: HttpWorld):
    world = api.emulator
    world.clock.freeze()
    world.clock.advance("999ms")
    token = world.mint_token("owner", lifetime="1s").access_token

    world.clock.advance("999ms")
    before = api.dns(token=token)
    world.clock.advance("2ms")
    after = api.dns(token=token)

    assert (before.status, after.status) == (200, 401)
