"""Preflight requests of web apps whose origin is allowed."""

from __future__ import annotations

import pytest
from aiohttp.test_utils import make_mocked_request

from hosting_emulator.http.cors import preflight_response

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
