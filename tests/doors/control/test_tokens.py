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
def test_a_token_expires_after_its_lifetime_in_whole_seconds_of_world_time(
    api: HttpWorld, lifetime: str | None, seconds: int
):
    world = api.emulator
    world.clock.freeze()
    world.clock.advance("1ms")
    now_s = read_timestamp(world.clock.now).timestamp() // 1

    response = world.control.post(
        world.control_path("tokens"), {"user": "owner", "lifetime": lifetime}
    )

    assert token_parts(response["access_token"])[1]["exp"] == now_s + seconds
    assert response["expires_in"] == seconds
    assert read_timestamp(response["expires_at"]).timestamp() == now_s + seconds
