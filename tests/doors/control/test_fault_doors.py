"""Faults at redemption, at the identity provider, and for requests without credentials."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import issue, redeem
from tests.support.response_checks import expect_problem
from tests.support.sign_in_client import Browser, Page
from tests.support.wire import wire

LOST = (ConnectionError, http.client.HTTPException)


@pytest.fixture
def browser(hosting_emulator: HostingEmulator) -> Browser:
    """A browser at the world's identity provider."""
    return Browser(hosting_emulator.summary.issuer)


# --- a ticket's redemption ------------------------------------------------------------------------


def test_a_fault_after_the_commit_consumes_the_ticket(api: CheckedWorld) -> None:
    ticket = issue(api)
    fault = api.emulator.fault("connection_reset", call="redeem_ticket", after_commit=True)

    with pytest.raises(LOST):
        redeem(api, ticket)
    fault.remove()

    assert fault.hits == 1
    expect_problem(redeem(api, ticket), 404, "resource_not_found")


def test_a_fault_before_the_commit_leaves_the_ticket_valid(api: CheckedWorld) -> None:
    ticket = issue(api)
    with api.emulator.fault("empty_response", call="redeem_ticket", times=1):
        with pytest.raises(LOST):
            redeem(api, ticket)
        assert redeem(api, ticket).status == 303


@pytest.mark.parametrize(
    ("effect", "options"),
    [
        ("wrong_content_length", {}),
        ("wrong_content_length", {"by": -7}),
        ("truncate", {"bytes": 20}),
        ("reset_in_body", {}),
        ("malformed_response", {}),
    ],
)
def test_a_broken_redirect_before_the_commit_redeems_nothing(
    api: CheckedWorld, effect: str, options: dict[str, Any]
) -> None:
    ticket = issue(api)
    api.emulator.fault(effect, call="redeem_ticket", times=1, **options)

    with pytest.raises(LOST):
        redeem(api, ticket)

    assert redeem(api, ticket).status == 303


def test_a_fault_of_one_project_does_not_act_on_the_tickets_of_another(api: CheckedWorld) -> None:
    api.emulator.fault("abort", code="service_unavailable", call="redeem_ticket", project="blog")

    expect_problem(redeem(api, issue(api, project="blog")), 503, "service_unavailable")
    assert redeem(api, issue(api)).status == 303


def test_the_log_names_the_fault_that_lost_a_redemption(api: CheckedWorld) -> None:
    ticket = issue(api)
    api.emulator.fault("connection_reset", call="redeem_ticket", after_commit=True)
    with pytest.raises(LOST):
        redeem(api, ticket)

    entry = api.emulator.requests[-1]

    assert (entry.call, entry.status, entry.lost) == ("redeem_ticket", 0, "connection_reset")


# --- the identity provider ------------------------------------------------------------------------


def test_a_fault_without_a_call_does_not_act_on_the_identity_provider(
    api: CheckedWorld, browser: Browser
) -> None:
    api.emulator.fault("timeout")

    assert browser.send("/jwks.json").status == 200
    assert browser.choose("owner").status == 303


@pytest.mark.parametrize(
    ("door", "path"),
    [
        ("idp_discovery", "/.well-known/openid-configuration"),
        ("idp_jwks", "/jwks.json"),
        ("idp_authorize", "/authorize"),
        ("idp_userinfo", "/userinfo"),
        ("idp_end_session", "/end-session"),
    ],
)
@pytest.mark.parametrize("after_commit", [False, True], ids=["before_commit", "after_commit"])
def test_a_fault_acts_on_each_endpoint_of_the_identity_provider(
    api: CheckedWorld, browser: Browser, door: Any, path: str, after_commit: bool
) -> None:
    fault = api.emulator.fault(
        "respond",
        status=503,
        content="later",
        headers={"Retry-After": "7"},
        call=door,
        after_commit=after_commit,
    )

    response = browser.send(path)

    # The endpoint refused the request, so nothing happened.
    if after_commit and fault.hits == 0:
        assert response.status in (400, 401)
        return
    assert (response.status, response.text, response.headers["Retry-After"]) == (503, "later", "7")


def test_a_fault_after_the_commit_consumes_the_refresh_token(
    api: CheckedWorld, browser: Browser
) -> None:
    """A form of the token endpoint is matched in the same way as a JSON body."""
    first = browser.redeem(browser.choose("owner").parameters["code"]).json
    fault = api.emulator.fault(
        "connection_reset",
        call="idp_token",
        body={"grant_type": "refresh_token"},
        after_commit=True,
        times=1,
    )

    with pytest.raises((OSError, http.client.HTTPException)):
        browser.refresh(first["refresh_token"])

    assert fault.hits == 1
    assert browser.refresh(first["refresh_token"]).json["error"] == "invalid_grant"


def test_only_the_first_effect_acts_on_the_identity_provider(
    api: CheckedWorld, browser: Browser
) -> None:
    api.emulator.fault("slow_response", bytes_per_second=1_000_000, call="idp_jwks")
    late = api.emulator.fault("connection_reset", call="idp_jwks", after_commit=True)

    assert browser.send("/jwks.json").json["keys"]
    assert late.seen == 0


def test_a_slowed_response_of_the_identity_provider_has_the_usual_body_and_headers(
    api: CheckedWorld, browser: Browser
) -> None:
    form = {"grant_type": "password", "username": "nobody"}
    usual = browser.send("/token", form)
    api.emulator.fault("slow_response", bytes_per_second=1_000_000, call="idp_token")

    slowed = browser.send("/token", form)

    assert (slowed.status, slowed.body) == (usual.status, usual.body)
    assert header_lines(slowed) == header_lines(usual)
    assert slowed.header_values("Server") == ["hosting-emulator"]


def test_a_slowed_page_with_hundreds_of_users_is_complete(
    api: CheckedWorld, browser: Browser
) -> None:
    # The page is slightly larger than 65,536 bytes, because a slowed page takes time for each byte.
    users = [{"alias": f"user-{n}", "name": "x" * 60} for n in range(330)]
    world = {"extends": "default", "users": users}
    api.emulator.load_scenario(
        text=json.dumps({"name": "many", "description": "Many users.", "world": world})
    )
    usual = browser.authorize()
    api.emulator.fault("slow_response", bytes_per_second=1_000_000, call="idp_authorize")

    slowed = browser.authorize()

    assert len(usual.body) > 65_536
    assert slowed.body == usual.body


def test_a_slowed_sign_in_still_sets_its_cookie(api: CheckedWorld, browser: Browser) -> None:
    api.emulator.fault("slow_response", bytes_per_second=1_000_000, call="idp_authorize")

    signed_in = browser.choose("owner")

    assert signed_in.status == 303
    assert "HttpOnly" in signed_in.headers["Set-Cookie"]
    assert browser.authorize(prompt="none").parameters["code"]


def header_lines(response: Page) -> list[tuple[str, str]]:
    """Return a response's headers in alphabetical order, without the name of the server."""
    return sorted(line for line in response.headers.items() if line[0] != "Server")


def test_a_latency_on_the_public_keys_only_delays_them(api: CheckedWorld, browser: Browser) -> None:
    fault = api.emulator.fault("latency", delay_ms=5, call="idp_jwks")

    assert browser.send("/jwks.json").json["keys"]
    assert fault.hits == 1


# --- what a request came with ---------------------------------------------------------------------


def test_requests_without_valid_credentials_meet_only_faults_that_select_them(
    api: CheckedWorld,
) -> None:
    unselective = api.emulator.fault("abort", code="rate_limited")
    none = api.emulator.fault("abort", code="service_unavailable", credentials="none")
    bad = api.emulator.fault("abort", code="forbidden", credentials="invalid")
    path = api.project_path("edge-dns")

    expect_problem(api.send("GET", path, user=None), 503, "service_unavailable")
    expect_problem(api.send("GET", path, token="nonsense"), 403, "forbidden")
    assert (unselective.seen, none.hits, bad.hits) == (0, 1, 1)
    none.remove()
    expect_problem(api.send("GET", path, user=None), 401, "unauthenticated")


def test_a_fault_can_select_requests_with_an_api_key(api: CheckedWorld) -> None:
    key = api.emulator.api_key()
    api.emulator.fault("abort", code="forbidden", credentials="key")

    assert api.dns().status == 200
    expect_problem(api.dns(token=key), 403, "forbidden")


def test_a_latency_acts_on_requests_without_credentials_if_it_selects_them(
    api: CheckedWorld,
) -> None:
    fault = api.emulator.fault("latency", delay_ms=5, credentials="any")

    expect_problem(api.send("GET", api.project_path("edge-dns"), user=None), 401, "unauthenticated")
    assert fault.hits == 1


# --- what is matched ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "meets"),
    [
        ({"query": {"environment": "prod"}}, ["prod"]),
        ({"query": {"environment": "*"}}, ["dev", "prod"]),
        ({"query": {"limit": "1"}}, []),
    ],
)
def test_a_fault_matches_by_query_parameters(
    api: CheckedWorld, rule: dict[str, Any], meets: list[str]
) -> None:
    api.emulator.fault("abort", code="forbidden", **rule)

    met = [e for e in ("dev", "prod") if api.compute(f"?environment={e}").status == 403]

    assert met == meets


@pytest.mark.parametrize(
    ("body", "acts"),
    [
        ({"name": "ci-*"}, True),
        ({"$.name": "ci-1"}, True),
        ({"name": "other"}, False),
        ({"name": 1}, False),
        ({"name.first": "*"}, False),
    ],
)
def test_a_fault_matches_by_members_of_the_body(
    api: CheckedWorld, body: dict[str, Any], acts: bool
) -> None:
    api.emulator.fault("abort", code="service_unavailable", body=body)

    assert (api.create_key("ci-1").status == 503) is acts


def test_a_body_that_is_not_json_matches_no_fault(api: CheckedWorld) -> None:
    """This includes a body that is nested too deep to be read: the call refuses it as without a fault."""
    fault = api.emulator.fault("abort", code="service_unavailable", body={"enabled": True})
    headers = [("Authorization", f"Bearer {api.emulator.token()}"), ("Idempotency-Key", "deep")]
    headers.append(("Content-Type", "application/json"))

    for body in (b"[" * 100_000, b"\xff\xfe", b'{"enabled": true'):
        with wire(api.emulator.base_url) as connection:
            connection.send_request("PUT", api.project_path("powered-by-flag"), headers, body)
            expect_problem(connection.read_response("PUT"), 400, "invalid_request")

    assert fault.seen == 0


def test_a_response_of_a_fault_may_be_nested_too_deep_to_read(api: CheckedWorld) -> None:
    api.emulator.fault("respond", status=503, content="[" * 9_000)

    assert api.send("GET", api.project_path("edge-dns")).status == 503

    assert "503" in api.emulator.report()
    assert api.emulator.requests[-1].status == 503


def test_a_fault_that_matches_1_does_not_match_true(api: CheckedWorld) -> None:
    api.emulator.fault("abort", code="service_unavailable", body={"enabled": 1})

    assert api.set_flag(True).status == 200


def test_a_fault_matches_by_organization(api: CheckedWorld) -> None:
    api.emulator.fault("abort", code="forbidden", organization="hobby")

    assert api.dns().status == 200
    assert api.create_key().status == 201


# --- what could never act is refused --------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"abort": {"code": "forbidden"}, "call": "idp_token"}, "use respond"),
        ({"truncate": {}, "call": "idp_token"}, "needs after_commit: true"),
        ({"timeout": {}, "call": "idp_token", "principal": "owner"}, "has no principal"),
        ({"timeout": {}, "call": "redeem_tickets"}, "redeem_ticket?"),
        ({"timeout": {}, "credentials": "nobody"}, "credentials"),
        (
            {"timeout": {}, "credentials": "none", "principal": "owner"},
            "the rule could never match: with",
        ),
        (
            {"timeout": {}, "credentials": "invalid", "after_commit": True},
            "could never match: with",
        ),
        ({"timeout": {}, "organization": "acm"}, "acme?"),
        ({"respond": {"status": 299}}, "299 is not an HTTP status"),
        (
            {"respond": {"status": 204, "content": "x"}},
            "a response with status 204 cannot have content",
        ),
        (
            {"respond": {"status": 304, "content": {}}},
            "a response with status 304 cannot have content",
        ),
        ({"respond": {"headers": {"Content-Length": "1"}}}, "cannot be set as a response header"),
        ({"respond": {"headers": {"X-A": "1\r\nX-B: 2"}}}, "printable ASCII"),
        ({"redirect": {"location": "javascript:1"}}, "is neither a URL"),
        ({"wrong_content_length": {"by": 0}}, "would be the correct length"),
    ],
)
def test_a_fault_that_could_never_act_is_refused(
    hosting_emulator: HostingEmulator, document: dict[str, Any], message: str
) -> None:
    with pytest.raises(ControlRefused) as refused:
        hosting_emulator.arm(document)

    assert message in str(refused.value)
