"""A DNS authorization moves only along its lifecycle, and expires when it says."""

from __future__ import annotations

import pytest

from hosting_emulator.world.dns_authorizations import move_dns_authorization
from hosting_emulator.world.tables import DNS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change
from tests.support.in_process import fresh_world

DAY_MS = 86_400_000


def moved(alias: str, *states: str) -> Change:
    """Return the change that moves the authorization of a project of the default world."""
    world = fresh_world()
    change = Change(world, world.at_ms + 1000)
    project = change.row(PROJECTS, world.indexes[f"project:{alias}"])
    for state in states:
        move_dns_authorization(change, project, state)
    return change


@pytest.mark.parametrize(
    ("alias", "state"),
    [("shop", "pending"), ("labs", "authorized"), ("labs", "expired"), ("garden", "expired")],
)
def test_a_dns_authorization_moves_only_along_its_lifecycle(alias: str, state: str) -> None:
    with pytest.raises(ValueError, match=f"cannot become {state}"):
        moved(alias, state)


@pytest.mark.parametrize(
    ("alias", "states", "days"),
    [
        ("blog", ["authorized"], 30),
        ("labs", ["pending", "authorized"], 30),
        ("shop", ["expired"], 0),
    ],
)
def test_a_moved_authorization_expires_after_30_days_or_has_just_expired(
    alias: str, states: list[str], days: int
) -> None:
    change = moved(alias, *states)

    project_id = change.world.indexes[f"project:{alias}"]
    expires_ms = change.row(DNS, project_id).expires_ms
    assert expires_ms == change.now_ms + days * DAY_MS
    due = [
        event.due_ms
        for _, event in change.applied().rows(SCHEDULE)
        if event.kind == "dns_expiry" and event.subject == project_id
    ]
    assert (expires_ms in due) == (days > 0)


def test_a_revoked_authorization_keeps_its_time_of_expiry() -> None:
    change = moved("shop", "revoked")

    project_id = change.world.indexes["project:shop"]
    former = change.world.get(DNS, project_id)
    assert former is not None
    assert change.row(DNS, project_id).expires_ms == former.expires_ms
