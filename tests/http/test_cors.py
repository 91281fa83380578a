"""Preflight requests of web apps whose origin is allowed."""

from __future__ import annotations

import pytest
from aiohttp.test_utils import make_mocked_request

from hosting_emulator.http.cors import cors_headers, preflight_refusal, preflight_response

PRIVATE_NETWORK = "Private-Network"


@pytest.mark.parametrize("is_requested", [True, False])
def test_access_from_a_public_site_is_granted_only_on_request(is_requested: bool):
    headers = {"Origin": "http://app.test:3000", "Access-Control-Request-Method": "PUT"}
    if is_requested:
        headers[f"Access-Control-Request-{PRIVATE_NETWORK}"] = "true"

    response = preflight_response(
        make_mocked_request("OPTIONS", "/v1/projects", headers), "http://app.test:3000"
    )

    assert response is not None
    granted = response.headers.get(f"Access-Control-Allow-{PRIVATE_NETWORK}")
    assert granted == ("true" if is_requested else None)


def test_a_preflight_response_lists_what_a_page_may_send_and_read():
    origin = "http://app.test:3000"
    headers = {"Origin": origin, "Access-Control-Request-Method": "PUT"}

    response = preflight_response(make_mocked_request("OPTIONS", "/v1/projects", headers), origin)

    assert response is not None
    assert response.status == 204
    assert {**response.headers} == {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": "X-Request-Id, Retry-After",
        "Vary": "Origin",
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
        "Access-Control-Max-Age": "600",
    }
    assert cors_headers(origin) == [
        (name, response.headers[name])
        for name in ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary")
    ]


@pytest.mark.parametrize(
    ("method", "headers"),
    [("GET", {"Access-Control-Request-Method": "PUT"}), ("OPTIONS", {})],
)
def test_other_requests_are_no_preflights(method: str, headers: dict[str, str]):
    request = make_mocked_request(method, "/v1/projects", headers)

    assert preflight_response(request, "http://app.test:3000") is None
    assert preflight_refusal(request) is None


def test_the_refusal_of_a_preflight_says_how_to_allow_the_origin():
    headers = {"Origin": "http://" + "a" * 80, "Access-Control-Request-Method": "PUT"}

    refusal = preflight_refusal(make_mocked_request("OPTIONS", "/v1/projects", headers))

    assert refusal is not None
    assert (refusal.code, refusal.detail) == (
        "forbidden",
        f"Requests from pages on the origin 'http://{'a' * 73}' are not allowed. To allow them, use "
        "`start --allow-origin`.",
    )
    assert (refusal.why, refusal.action) == (
        "the browser reports a CORS error to the page",
        "Start the emulator with --allow-origin and the page's origin.",
    )
