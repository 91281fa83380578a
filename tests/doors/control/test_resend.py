"""A logged request is resent as its caller, and the HAR names the caller of each request."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from hosting_emulator.sdk import ControlRefused, WholeExchange
from tests.support.http_client import HttpClient
from tests.support.http_world import HttpWorld

#: Options of a token, or the user and permissions of an API key, with the status of a new API key.
CALLERS: dict[str, tuple[dict[str, Any], int]] = {
    "the session of a user": ({"user": "owner"}, 201),
    "a session in an organization": ({"user": "owner", "organization": "acme"}, 201),
    "a token without a session": ({"user": "owner", "interactive": False}, 403),
    "a session of a user without access": ({"user": "outsider"}, 404),
    "a user without an organization": ({"user": "no-organization"}, 403),
}


def har_entries(api: HttpWorld) -> list[dict[str, Any]]:
    har: Any = api.emulator.requests.har()
    entries: list[dict[str, Any]] = har["log"]["entries"]
    return entries


def callers(api: HttpWorld) -> list[Any]:
    return [entry["_principal"] for entry in har_entries(api)]


def resend(api: HttpWorld, n: int, *, same_key: bool = False) -> WholeExchange:
    exchange = api.emulator.requests.resend(n, same_key=same_key)
    assert exchange.n == api.emulator.requests.page(limit=1).items[0].n
    return exchange


@pytest.mark.parametrize("caller", CALLERS)
def test_a_resent_request_has_the_caller_of_the_first(api: HttpWorld, caller: str):
    options, status = CALLERS[caller]
    token = api.emulator.mint_token(**options).access_token
    first = api.create_key(token=token, key="key-1")
    assert first.status == status

    resent = resend(api, 1)

    assert (resent.status, resent.code) == (status, first.json.get("code"))
    first_caller, resent_caller = callers(api)
    assert first_caller == resent_caller
    assert first_caller["user"] == api.emulator.users[options["user"]]
    assert first_caller["interactive"] is options.get("interactive", True)


def test_a_request_about_the_whole_server_has_no_path_in_the_har_and_is_resent(api: HttpWorld):
    with HttpClient(api.emulator.base_url) as client:
        assert client.send("OPTIONS", "*").status == 404
    default_world = api.emulator.control.world("default")
    requests = default_world.requests

    resent = requests.resend(requests.page(limit=1).items[0].n)

    assert (resent.method, resent.path, resent.status) == ("OPTIONS", "*", 404)
    har: Any = requests.har()
    urls = [entry["request"]["url"] for entry in har["log"]["entries"]]
    assert urls[-2:] == [default_world.base_url] * 2


def test_the_har_names_the_user_and_the_organization_of_a_session(api: HttpWorld):
    api.dns()

    assert callers(api) == [
        {
            "user": api.emulator.users["owner"],
            "organization": api.organization_id("acme"),
            "interactive": True,
            "api_key": None,
            "permissions": None,
        }
    ]


def test_the_har_names_an_api_key_and_its_permissions_in_order(api: HttpWorld):
    permissions = ["projects.write", "database.read"]
    key = api.emulator.create_api_key("owner", permissions=permissions)
    api.dns(token=key.value)
    resend(api, 1)

    expected = {
        "user": api.emulator.users["owner"],
        "organization": api.organization_id("acme"),
        "interactive": False,
        "api_key": key.key.id,
        "permissions": sorted(permissions),
    }
    assert callers(api) == [expected, expected]


@pytest.mark.parametrize("token", [None, "unknown"])
def test_a_request_without_valid_credentials_is_resent_without_them(
    api: HttpWorld, token: str | None
):
    assert api.dns(user=None, token=token).status == 401

    resent = resend(api, 1)

    assert (resent.status, resent.user_id) == (401, None)
    assert callers(api) == [None, None]


def test_a_resent_request_gets_a_new_key_unless_it_keeps_its_own(api: HttpWorld):
    api.apply_domains(key="key-1")

    kept = resend(api, 1, same_key=True)
    renewed = resend(api, 1)

    assert (kept.replayed, kept.idempotency_key) == (True, "key-1")
    assert not renewed.replayed
    assert renewed.idempotency_key is not None
    assert renewed.idempotency_key.startswith("resend-of-1-at-")


def test_a_resent_request_is_the_first_one_with_other_credentials_only(api: HttpWorld):
    path = api.project_path("powered-by-flag")
    headers = {"X-Color": "green", "Content-Type": "application/json"}
    api.call("PUT", f"{path}?a=1&b=%2F", key="k", raw=b'{"enabled": false}', headers=headers)

    resend(api, 1, same_key=True)

    first, second = har_entries(api)
    for member in ("method", "url", "headers", "queryString", "postData", "bodySize"):
        assert second["request"][member] == first["request"][member], member


@pytest.mark.parametrize(
    ("headers", "body", "reason"),
    [
        (
            {},
            json.dumps({"enabled": "x" * 20_000}).encode(),
            r"only the first 16384 of 20015 bytes of the body of request 1 were kept",
        ),
        ({}, b"x" * (1024 * 1024 + 1), "the body of request 1 was not kept"),
        ({"Content-Encoding": "gzip"}, b"not gzip", "the body of request 1 was not kept"),
        (
            {f"X-Long-{n}": "x" * 6000 for n in range(4)},
            b'{"enabled": true}',
            "only the beginning of the headers of request 1 was kept",
        ),
    ],
)
def test_a_request_that_the_log_keeps_only_in_part_cannot_be_resent(
    api: HttpWorld, headers: dict[str, str], body: bytes, reason: str
):
    headers = {**headers, "Content-Type": "application/json"}
    api.call("PUT", api.project_path("powered-by-flag"), key="k", raw=body, headers=headers)

    with pytest.raises(ControlRefused) as refused:
        resend(api, 1)

    assert (refused.value.status, refused.value.title) == (409, "Not kept completely")
    assert str(refused.value) == reason
    assert len(har_entries(api)) == 1


# --- The HAR and the request log ------------------------------------------------------------------


def test_an_entry_of_the_har_says_what_the_request_log_says(api: HttpWorld):
    api.dns()
    api.set_flag(False, key="key-1")
    api.set_flag("yes", user="reader", key="key-2")
    api.call("GET", "/v1/unknown?a=1&b=")
    api.add_fault(connection_reset={}, after_commit=True, times=1)
    with pytest.raises(OSError):  # noqa: PT011
        api.apply_domains(key="key-3")
    api.emulator.clock.advance("1s")

    entries = har_entries(api)

    assert len(entries) == 5
    for entry in entries:
        exchange = api.emulator.requests.whole(entry["_number"])
        request = entry["request"]
        response = entry["response"]
        assert entry["startedDateTime"] == exchange.at
        duration_ms = exchange.duration_us / 1000
        assert entry["time"] == duration_ms
        assert entry["timings"] == {"send": 0, "wait": duration_ms, "receive": 0}
        assert entry["cache"] == {}
        assert entry["comment"] == "; ".join(exchange.why)
        assert (entry["_call"], entry["_user"]) == (exchange.call, exchange.user)
        assert (entry["_lost"], entry["_resourceType"]) == (exchange.lost, "fetch")
        assert len(entry["_trail"]) == len(exchange.trail)
        assert bool(response["comment"]) == bool(exchange.lost)
        assert (request["method"], response["status"]) == (exchange.method, exchange.status)
        assert request["url"] == api.emulator.base_url + exchange.path + (
            f"?{exchange.query}" if exchange.query else ""
        )
        assert [(pair["name"], pair["value"]) for pair in request["queryString"]] == parse_qsl(
            exchange.query, keep_blank_values=True
        )
        for message, side in ((exchange.request, request), (exchange.response, response)):
            headers = [(header["name"], header["value"]) for header in side["headers"]]
            assert headers == [tuple(pair) for pair in message.headers]
            assert side["bodySize"] == message.body_bytes
            assert (side["httpVersion"], side["cookies"], side["headersSize"]) == (
                "HTTP/1.1",
                [],
                -1,
            )
        assert response["_transferSize"] == exchange.response.body_bytes
        assert response["redirectURL"] == ""
        assert response["content"]["text"] == (exchange.response.body or "")
        assert response["content"]["size"] == exchange.response.body_bytes
        assert ("postData" in request) == bool(exchange.request.body_bytes)
        if "postData" in request:
            assert request["postData"]["text"] == exchange.request.body
