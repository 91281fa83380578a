"""User API keys as credentials: their user, organization, permissions and lifetime."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import moment, problem

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


def make_key(api: CheckedWorld, who: str = "owner", **options: Any) -> str:
    created = api.emulator.create_api_key(who, **options)
    return str(created["value"])


def ask(api: CheckedWorld, call: str, token: str) -> Response:
    if call == "set_flag":
        return api.set_flag(False, token=token)
    if call == "poll":
        operation_id = api.deployments("?limit=1").json["items"][0]["operation_id"]
        return api.poll(operation_id, token=token)
    response: Response = getattr(api, call)(token=token)
    return response


@pytest.mark.parametrize("call", NEEDS)
def test_a_new_key_can_make_every_call_of_its_user(api: CheckedWorld, call: str) -> None:
    # given a key made through call 3
    value = api.create_key().json["value"]

    assert ask(api, call, value).status < 300


@pytest.mark.parametrize("call", NEEDS)
def test_a_key_is_limited_to_its_permissions(api: CheckedWorld, call: str) -> None:
    for permission in PERMISSIONS:
        response = ask(api, call, make_key(api, permissions=[permission]))

        if NEEDS[call] == permission:
            assert response.status < 300, permission
        else:
            problem(response, 403, "forbidden")


@pytest.mark.parametrize("call", NEEDS)
def test_a_permission_that_the_organization_disables_ends_at_once_for_its_keys(
    api: CheckedWorld, call: str
) -> None:
    value = api.create_key().json["value"]
    other_permissions = [name for name in PERMISSIONS if name != NEEDS[call]]
    api.intervene("set_permissions", organization="acme", permissions=other_permissions)

    problem(ask(api, call, value), 403, "forbidden")
    other_call = "compute" if call == "dns" else "dns"
    assert ask(api, other_call, value).status < 300


@pytest.mark.parametrize(
    ("who", "call"),
    [("member", "set_flag"), ("member", "ticket"), ("reader", "initialize"), ("reader", "ticket")],
)
def test_a_key_cannot_make_a_call_that_its_user_cannot_make(
    api: CheckedWorld, who: str, call: str
) -> None:
    value = api.create_key(who=who).json["value"]

    problem(ask(api, call, value), 403, "forbidden")


def test_a_key_does_not_find_projects_that_its_user_cannot_read(api: CheckedWorld) -> None:
    value = api.create_key(who="member").json["value"]

    assert api.dns(token=value).status == 200
    problem(api.dns(token=value, project="docs"), 404, "resource_not_found")
    problem(api.dns(token=value, project="garden"), 404, "resource_not_found")


def test_a_key_is_bound_to_its_organization(api: CheckedWorld) -> None:
    # given a user who owns two organizations, with a key of each
    api.intervene("add_member", organization="hobby", person="owner", role="owner")
    in_hobby = api.emulator.token("owner", organization="hobby")
    acme_key = api.create_key().json["value"]
    hobby_key = api.create_key(organization="hobby", token=in_hobby).json["value"]

    seen = {
        (name, project): api.dns(token=token, project=project).status
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


def test_a_key_of_a_removed_member_finds_nothing(api: CheckedWorld) -> None:
    value = api.create_key(who="member").json["value"]
    api.intervene("remove_member", organization="acme", person="member")

    problem(api.dns(token=value), 404, "resource_not_found")


def test_a_key_is_valid_for_90_days_of_world_time(api: CheckedWorld) -> None:
    created = api.create_key().json
    assert moment(created["key"]["expires_at"]) - api.now() == timedelta(days=90)

    api.advance("89d23h59m59s999ms")
    assert api.dns(token=created["value"]).status == 200
    api.advance("1ms")
    problem(api.dns(token=created["value"]), 401, "unauthenticated")


def test_a_revoked_key_is_refused(api: CheckedWorld) -> None:
    value = api.create_key().json["value"]
    api.intervene("revoke_key", all=True)

    problem(api.dns(token=value), 401, "unauthenticated")


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
def test_a_changed_key_is_refused(api: CheckedWorld, change: str) -> None:
    value = changed(api.create_key().json["value"])[change]

    problem(api.dns(token=value), 401, "unauthenticated")


def last_used_at(api: CheckedWorld) -> str | None:
    keys = api.state()["tables"]["user_api_keys"].values()
    last_use: str | None = next(iter(keys)).get("last_used_at")
    return last_use


def test_a_successful_request_updates_last_used_at_of_its_key(api: CheckedWorld) -> None:
    value = api.create_key().json["value"]
    assert last_used_at(api) is None

    api.dns(token=value)
    first = last_used_at(api)
    api.advance("1h")
    api.compute(token=value)

    assert first
    assert moment(str(last_used_at(api))) - moment(first) == timedelta(hours=1)


def test_a_refused_request_does_not_update_last_used_at(api: CheckedWorld) -> None:
    value = api.create_key().json["value"]

    api.dns(token=value, project="garden")
    api.compute("", token=value)
    api.create_key(token=value)

    assert last_used_at(api) is None


def test_a_key_has_no_session_and_learns_of_that_only_in_its_own_organization(
    api: CheckedWorld,
) -> None:
    value = api.create_key().json["value"]

    problem(api.create_key(token=value), 403, "interactive_login_required")
    problem(api.create_key(token=value, organization="hobby"), 404, "resource_not_found")


def test_a_key_of_another_world_is_refused(api: CheckedWorld) -> None:
    control = api.emulator.control
    other = control.create_world(seed="another")["name"]
    try:
        value = str(control.world(other).create_api_key("owner")["value"])
    finally:
        control.world(other).delete()

    problem(api.dns(token=value), 401, "unauthenticated")
