"""Call 5: read the DNS authorization, without credentials."""

from __future__ import annotations

import pytest

from tests.support.checked_world import CheckedCalls
from tests.support.response_checks import read_timestamp


@pytest.mark.over_http
@pytest.mark.parametrize(
    ("project", "user", "status"),
    [
        ("shop", "owner", "authorized"),
        ("blog", "owner", "pending"),
        ("docs", "owner", "expired"),
        ("garden", "outsider", "revoked"),
    ],
)
def test_an_authorization_has_a_zone_in_every_state_except_not_authorized(
    world: CheckedCalls, project: str, user: str, status: str
) -> None:
    response = world.dns(project=project, user=user)

    assert response.status == 200
    assert response.json.keys() == {"status", "zone", "scopes", "expires_at"}
    assert response.json["status"] == status
    assert response.json["zone"]
    assert set(response.json["scopes"]) <= {"dns.write", "zone.read"}
    past = read_timestamp(response.json["expires_at"]) <= world.now()
    assert past == (status == "expired")


@pytest.mark.over_http
@pytest.mark.parametrize(("project", "user"), [("labs", "owner"), ("notes", "outsider")])
def test_no_zone_is_inferred_without_an_authorization(
    world: CheckedCalls, project: str, user: str
) -> None:
    response = world.dns(project=project, user=user)

    assert response.json == {
        "status": "not_authorized",
        "zone": None,
        "scopes": [],
        "expires_at": None,
    }


def test_an_authorization_expires_at_its_expires_at(world: CheckedCalls) -> None:
    granted = world.dns().json
    left = read_timestamp(granted["expires_at"]) - world.now()

    world.advance(f"{int(left.total_seconds()) - 1}s")
    just_before = world.dns().json
    world.advance("1s")
    then = world.dns().json

    assert just_before == granted
    assert then == granted | {"status": "expired"}


def test_a_pending_revoked_or_expired_authorization_does_not_change_with_time(
    world: CheckedCalls,
) -> None:
    projects = [("blog", "owner"), ("docs", "owner"), ("garden", "outsider"), ("labs", "owner")]
    before = [world.dns(project=project, user=user).body for project, user in projects]

    world.advance("400d")

    assert [world.dns(project=project, user=user).body for project, user in projects] == before
