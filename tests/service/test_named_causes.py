"""A refusal names its cause and a remedy: in the detail if the client may know it, else in the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import visit
from tests.support.response_checks import expect_problem


@pytest.fixture
def other(hosting_emulator: HostingEmulator) -> Iterator[HostingEmulator]:
    """Another world of the same emulator."""
    control = hosting_emulator.control
    control.create_world("the-other-world", seed="9", clock={"mode": "frozen"})
    yield control.world("the-other-world")
    control.delete("worlds/the-other-world")


def refusal(api: CheckedWorld) -> str:
    """Return the reason that the log gives for the last refusal."""
    [last] = api.emulator.requests.page(limit=1).items
    [reason] = [step.text for step in last.trail or () if step.step == "refusal"]
    return reason


def projects_dns(api: CheckedWorld) -> str:
    return f"/v1/projects/{api.project_id('shop')}/edge-dns"


def test_the_detail_names_a_world_that_does_not_exist(api: CheckedWorld) -> None:
    response = visit(api, "http://localhost/worlds/nope/v1/projects/x/edge-dns")

    detail = expect_problem(response, 404, "resource_not_found")["detail"]
    assert detail == "There is no world 'nope'; GET /_emulator/worlds lists all worlds."


def test_the_log_names_the_world_of_a_foreign_token(
    api: CheckedWorld, other: HostingEmulator
) -> None:
    response = api.call("GET", projects_dns(api), token=other.token())

    assert "the-other-world" not in expect_problem(response, 401, "unauthenticated")["detail"]
    assert (
        f"the token is for world the-other-world, but this is world {api.emulator.name}"
        in refusal(api)
    )


def test_the_log_names_the_world_of_a_foreign_api_key(
    api: CheckedWorld, other: HostingEmulator
) -> None:
    key = other.api_key("owner")

    response = api.call("GET", projects_dns(api), token=key)

    assert "the-other-world" not in expect_problem(response, 401, "unauthenticated")["detail"]
    reason = f"an API key of world the-other-world, but this is world {api.emulator.name}"
    assert reason in refusal(api)


def test_the_log_does_not_blame_another_world_for_a_revoked_key_of_its_own(
    api: CheckedWorld,
) -> None:
    key = api.emulator.api_key("owner")
    with api.emulator.fork():  # the fork has the key too
        api.intervene("revoke_key", all=True)
        api.call("GET", projects_dns(api), token=key)

    assert "API key of world" not in refusal(api)


def test_the_log_recognizes_a_token_of_another_seed(api: CheckedWorld) -> None:
    token = api.emulator.token()
    api.load(api.emulator.export())  # without a seed in the file the world gets a new one

    expect_problem(api.call("GET", projects_dns(api), token=token), 401, "unauthenticated")

    assert "signed with the key of a different emulator or seed" in refusal(api)


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_refused_preflight_names_the_option_that_allows_its_origin(
    api: CheckedWorld, method: str
) -> None:
    headers = {"Origin": "https://app.example.com", "Access-Control-Request-Method": method}

    response = api.call("OPTIONS", projects_dns(api), user=None, headers=headers)

    document = expect_problem(response, 403, "forbidden")
    assert "'https://app.example.com'" in document["detail"]
    assert "`start --allow-origin`" in document["detail"]
    assert "--allow-origin" in document["suggested_action"]


@pytest.mark.parametrize(("family", "kind"), [("fault", "abort"), ("outcome", "fail")])
def test_a_problem_code_in_place_of_a_kind_is_refused_with_the_right_form(
    hosting_emulator: HostingEmulator, family: str, kind: str
) -> None:
    with pytest.raises(ControlRefused, match=f"write {kind} code=service_unavailable"):
        getattr(hosting_emulator, family)("service_unavailable")


def test_a_call_can_be_named_by_its_operation_id_of_the_openapi_document(api: CheckedWorld) -> None:
    name: Any = "initializeManagedSource"  # the types know the call_id only
    fault = api.emulator.fault("abort", code="service_unavailable", call=name, times=1)

    api.initialize(1)

    assert (fault.state.written["call"], fault.hits) == ("initialize_managed_source", 1)
    assert api.emulator.requests.page(call=name).items
    api.emulator.requests.assert_made(name)


def test_the_refusal_of_a_stale_generation_names_the_current_one(api: CheckedWorld) -> None:
    document = expect_problem(api.initialize(7), 409, "etag_mismatch")

    assert "source generation is 1" in document["detail"]
    assert "from the detail" in document["suggested_action"]
