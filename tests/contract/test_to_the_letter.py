"""Sentences that the contract decides, each quoted, and what our answers make of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import HeldApi

# --- "when the current owner switched the flag on" ------------------------------------------------


@pytest.mark.parametrize("assumed", ["kept", "renewed"])
def test_enabled_at_is_when_the_current_owner_switched_the_flag_on(
    api: HeldApi, assumed: str
) -> None:
    """enabled_at: "when the current owner switched the flag on; null while hidden"."""
    # given a flag that one owner switched on, and another owner since
    api.assume(flag_reenabled=assumed)
    api.set_flag(False)
    theirs = api.set_flag(True).json["enabled_at"]
    api.advance("1h")
    api.emulator.intervene("transfer_ownership", organization="acme", to="member")

    # when the new owner switches it on
    api.advance("1h")
    own = api.set_flag(True, who="member").json["enabled_at"]

    # then it is their moment, which they keep
    assert own == api.emulator.clock.now > theirs
    api.advance("1h")
    again = api.set_flag(True, who="member").json["enabled_at"]
    assert (again == own) is (assumed == "kept")


def test_an_owner_through_the_project_alone_is_an_owner_too(api: HeldApi) -> None:
    """Of two owners at a time either one may have switched it on; who is none any more has not."""
    role: dict[str, Any] = {"project": "shop", "person": "member"}
    api.set_flag(False)
    api.emulator.intervene("set_role", **role, role="owner")
    theirs = api.set_flag(True, who="member").json["enabled_at"]
    api.advance("1h")
    assert api.set_flag(True).json["enabled_at"] == theirs

    api.emulator.intervene("set_role", **role, role="maintainer")

    assert api.set_flag(True).json["enabled_at"] == api.emulator.clock.now


def test_the_flag_of_a_world_that_begins_was_switched_on_by_its_owner(api: HeldApi) -> None:
    """Its first owner keeps the moment; the next owner does not."""
    began = api.set_flag(True).json["enabled_at"]
    assert began < api.emulator.clock.now

    api.emulator.intervene("transfer_ownership", organization="acme", to="member")

    assert api.set_flag(True, who="member").json["enabled_at"] == api.emulator.clock.now
