"""A refusal names its cause and a remedy: in the detail if the client may know it, else in the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import issue, visit
from tests.support.response_checks import expect_problem
from tests.support.sign_in_client import Browser


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


def belongs_elsewhere(credential: str, api: CheckedWorld) -> str:
    """Return what is said of a credential of the other world in a request to this world."""
    return f"this {credential} belongs to the-other-world; the request reached {api.emulator.name}"


def test_the_log_names_the_world_of_a_foreign_token(
    api: CheckedWorld, other: HostingEmulator
) -> None:
    response = api.call("GET", projects_dns(api), token=other.token())

    assert "the-other-world" not in expect_problem(response, 401, "unauthenticated")["detail"]
    assert belongs_elsewhere("token", api) in refusal(api)


def test_the_log_names_the_world_of_a_foreign_api_key(
    api: CheckedWorld, other: HostingEmulator
) -> None:
    key = other.api_key("owner")

    response = api.call("GET", projects_dns(api), token=key)

    assert "the-other-world" not in expect_problem(response, 401, "unauthenticated")["detail"]
    assert belongs_elsewhere("API key", api) in refusal(api)


def foreign_ticket(other: HostingEmulator) -> str:
    """Issue a ticket in the other world, and return the path and query that redeem it."""
    url = other.url("/v1/projects/{project}/dev-access-tickets")
    request = Request(url, method="POST", headers=other.headers())
    with urlopen(request) as response:
        return str(json.load(response)["redeem_url"]).partition(".localhost")[2]


@pytest.mark.parametrize("place", ["dev origin", "base URL"])
def test_the_log_names_the_world_of_a_foreign_ticket(
    api: CheckedWorld, other: HostingEmulator, place: str
) -> None:
    path = foreign_ticket(other)

    if place == "base URL":
        response = api.call("GET", path, user=None)
    else:
        response = visit(api, issue(api)["origin"] + path)

    assert "the-other-world" not in expect_problem(response, 404, "resource_not_found")["detail"]
    assert belongs_elsewhere("ticket", api) in refusal(api)


def test_the_provider_names_the_world_of_a_foreign_code_and_refresh_token(
    api: CheckedWorld, other: HostingEmulator
) -> None:
    browser = Browser(api.emulator.summary.issuer)
    other_browser = Browser(other.summary.issuer)
    scope = "openid offline_access"
    code = other_browser.choose("owner", scope=scope).parameters["code"]

    refused_code = browser.redeem(code)
    refresh_token = other_browser.redeem(code).json["refresh_token"]
    refused_token = browser.refresh(refresh_token)

    assert refused_code.json["error_description"] == belongs_elsewhere("code", api)
    assert refused_token.json["error_description"] == belongs_elsewhere("refresh token", api)


def test_the_log_of_the_default_world_explains_how_a_client_loses_the_path_of_a_world(
    api: CheckedWorld, other: HostingEmulator
) -> None:
    """A client that resolves `/v1/…` as a URL against a base URL drops the path of the base URL."""
    default = api.emulator.control.world()
    url = urljoin(other.base_url, f"/v1/projects/{other.project}/deployments")

    with pytest.raises(HTTPError) as refused:
        urlopen(Request(url, headers=other.headers()))
    with refused.value as response:
        assert json.load(response)["code"] == "unauthenticated"

    [last] = default.requests.page(limit=1).items
    [reason] = [step.text for step in last.trail or () if step.step == "refusal"]
    assert "this token belongs to the-other-world; the request reached default" in reason
    assert "loses its path /worlds/the-other-world" in reason


def test_the_log_does_not_blame_another_world_for_a_revoked_key_of_its_own(
    api: CheckedWorld,
) -> None:
    key = api.emulator.api_key("owner")
    with api.emulator.fork():  # the fork has the key too
        api.intervene("revoke_key", all=True)
        api.call("GET", projects_dns(api), token=key)

    assert "belongs to" not in refusal(api)


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
