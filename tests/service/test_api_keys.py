"""User API keys as credentials: their user, organization, permissions and lifetime."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedCalls, CheckedWorld
from tests.support.response_checks import expect_problem, read_timestamp

#: The permission that each call requires.
NEEDS = {
    "set_flag": "projects.write",
    "initialize": "projects.write",
    "apply_domains": "domains.write",
    "dns": "dns.read",
    "deployments": "deployments.read",
    "ticket": "dev_access.write",
    "compute": "database.read",
    "poll": "projects.read",
}
PERMISSIONS = sorted(set(NEEDS.values()))


def make_key(api: CheckedWorld, user: str = "owner", **options: Any) -> str:
    created = api.emulator.create_api_key(user, **options)
    return str(created.value)


def ask(world: CheckedCalls, call: str, token: str) -> Response:
    if call == "set_flag":
        return world.set_flag(False, token=token)
    if call == "poll":
        operation_id = world.deployments("?limit=1").json["items"][0]["operation_id"]
        return world.poll(operation_id, token=token)
    response: Response = getattr(world, call)(token=token)
    return response


@pytest.mark.parametrize("call", NEEDS)
def test_a_new_key_can_make_every_call_of_its_user(world: CheckedCalls, call: str) -> None:
    # given a key made through call 3
    value = world.create_key().json["value"]

    assert ask(world, call, value).status < 300


@pytest.mark.parametrize("call", NEEDS)
def test_a_key_is_limited_to_its_permissions(api: CheckedWorld, call: str) -> None:
    for permission in PERMISSIONS:
        response = ask(api, call, make_key(api, permissions=[permission]))

        if NEEDS[call] == permission:
            assert response.status < 300, permission
        else:
            expect_problem(response, 403, "forbidden")


@pytest.mark.parametrize("call", NEEDS)
def test_a_permission_that_the_organization_disables_ends_at_once_for_its_keys(
    world: CheckedCalls, call: str
) -> None:
    value = world.create_key().json["value"]
    other_permissions = [name for name in PERMISSIONS if name != NEEDS[call]]
    world.intervene("set_permissions", organization="acme", permissions=other_permissions)

    expect_problem(ask(world, call, value), 403, "forbidden")
    other_call = "compute" if call == "dns" else "dns"
    assert ask(world, other_call, value).status < 300


@pytest.mark.parametrize(
    ("user", "call"),
    [("member", "set_flag"), ("member", "ticket"), ("reader", "initialize"), ("reader", "ticket")],
)
def test_a_key_cannot_make_a_call_that_its_user_cannot_make(
    world: CheckedCalls, user: str, call: str
) -> None:
    value = world.create_key(user=user).json["value"]

    expect_problem(ask(world, call, value), 403, "forbidden")


def test_a_key_does_not_find_projects_that_its_user_cannot_read(world: CheckedCalls) -> None:
    value = world.create_key(user="member").json["value"]

    assert world.dns(token=value).status == 200
    expect_problem(world.dns(token=value, project="docs"), 404, "resource_not_found")
    expect_problem(world.dns(token=value, project="garden"), 404, "resource_not_found")


def test_a_key_is_bound_to_its_organization(world: CheckedCalls) -> None:
    # given a user who owns two organizations, with a key of each
    world.intervene("add_member", organization="hobby", user="owner", role="owner")
    in_hobby = world.token("owner", organization="hobby")
    acme_key = world.create_key().json["value"]
    hobby_key = world.create_key(organization="hobby", token=in_hobby).json["value"]

    seen = {
        (name, project): world.dns(token=token, project=project).status
        for name, token in (("acme", acme_key), ("hobby", hobby_key), ("session", in_hobby))
        for project in ("shop", "garden")
    }

    assert seen == {
        ("acme", "shop"): 200,
        ("acme", "garden"): 404,
        ("hobby", "shop"): 404,
        ("hobby", "garden"): 200,
        ("session", "shop"): 404,
        ("session", "garden"): 200,
    }


def test_a_key_of_a_removed_member_finds_nothing(world: CheckedCalls) -> None:
    value = world.create_key(user="member").json["value"]
    world.intervene("remove_member", organization="acme", user="member")

    expect_problem(world.dns(token=value), 404, "resource_not_found")


def test_a_key_is_valid_for_90_days_of_world_time(world: CheckedCalls) -> None:
    created = world.create_key().json
    assert read_timestamp(created["key"]["expires_at"]) - world.now() == timedelta(days=90)

    world.advance("89d23h59m59s999ms")
    assert world.dns(token=created["value"]).status == 200
    world.advance("1ms")
    expect_problem(world.dns(token=created["value"]), 401, "unauthenticated")


def test_a_revoked_key_is_refused(world: CheckedCalls) -> None:
    value = world.create_key().json["value"]
    world.intervene("revoke_key", all=True)

    expect_problem(world.dns(token=value), 401, "unauthenticated")


def changed(value: str) -> dict[str, str]:
    return {
        "its last character": value[:-1] + ("A" if value[-1] != "A" else "B"),
        "upper case": value.upper(),
        "without its prefix": value.removeprefix("phk_"),
        "longer": value + "A",
        "shorter": value[:-1],
        "as it is shown": f"phk_…{value[-4:]}".encode().decode("latin-1"),
    }


@pytest.mark.parametrize("change", changed("phk_" + "a" * 43))
def test_a_changed_key_is_refused(world: CheckedCalls, change: str) -> None:
    value = changed(world.create_key().json["value"])[change]

    expect_problem(world.dns(token=value), 401, "unauthenticated")


def last_used_at(world: CheckedCalls) -> str | None:
    keys = world.state()["tables"]["user_api_keys"].values()
    last_use: str | None = next(iter(keys)).get("last_used_at")
    return last_use


def test_a_successful_request_updates_last_used_at_of_its_key(world: CheckedCalls) -> None:
    value = world.create_key().json["value"]
    assert last_used_at(world) is None

    world.dns(token=value)
    first = last_used_at(world)
    world.advance("1h")
    world.compute(token=value)

    assert first
    assert read_timestamp(str(last_used_at(world))) - read_timestamp(first) == timedelta(hours=1)


def test_a_refused_request_does_not_update_last_used_at(world: CheckedCalls) -> None:
    value = world.create_key().json["value"]

    world.dns(token=value, project="garden")
    world.compute("", token=value)
    world.create_key(token=value)

    assert last_used_at(world) is None


def test_a_key_has_no_session_and_learns_of_that_only_in_its_own_organization(
    world: CheckedCalls,
) -> None:
    value = world.create_key().json["value"]

    expect_problem(world.create_key(token=value), 403, "interactive_login_required")
    expect_problem(world.create_key(token=value, organization="hobby"), 404, "resource_not_found")


def test_a_key_of_another_world_is_refused(api: CheckedWorld) -> None:
    control = api.emulator.control
    other = control.create_world(seed="another").name
    try:
        value = str(control.world(other).create_api_key("owner").value)
    finally:
        control.world(other).delete()

    expect_problem(api.dns(token=value), 401, "unauthenticated")
