"""The built-in identity provider: discovery, keys and the token endpoint of a world."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from base64 import b64encode
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.forged_tokens import token_parts
from tests.support.response_checks import expect_problem


def discover(api: CheckedWorld) -> dict[str, Any]:
    issuer = api.emulator.summary.issuer
    discovery = get(f"{issuer}/.well-known/openid-configuration")
    assert discovery["issuer"] == issuer
    return discovery


def get(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url) as response:
        document: dict[str, Any] = json.loads(response.read())
    return document


def ask(api: CheckedWorld, headers: dict[str, str] | None = None, **form: str) -> tuple[int, Any]:
    request = urllib.request.Request(
        discover(api)["token_endpoint"], urlencode(form).encode(), headers or {}
    )
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_a_token_can_be_verified_with_the_published_keys(api: CheckedWorld) -> None:
    """A client library goes from discovery to the key, and from the key to the claims."""
    discovery = discover(api)
    token = api.emulator.token("owner", lifetime="10m")

    keys = jwt.PyJWKSet.from_dict(get(discovery["jwks_uri"]))
    claims = jwt.decode(
        token,
        keys[jwt.get_unverified_header(token)["kid"]],
        algorithms=["EdDSA"],
        audience="hosting-control-api",
        issuer=discovery["issuer"],
        options={"verify_exp": False, "verify_iat": False},  # they follow the world's clock
    )

    assert claims["org_id"] == api.emulator.organization


def test_the_published_keys_are_public(api: CheckedWorld) -> None:
    for key in get(discover(api)["jwks_uri"])["keys"]:
        assert key.keys() <= {"kty", "crv", "x", "n", "e", "kid", "use", "alg"}


def test_the_password_grant_gives_a_token_with_a_session(api: CheckedWorld) -> None:
    status, tokens = ask(api, grant_type="password", username="owner", password="anything")

    assert status == 200
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == 3600
    assert api.create_key(token=tokens["access_token"]).status == 201


def test_a_token_from_signing_in_lives_at_least_as_long_as_its_response_says(
    api: CheckedWorld,
) -> None:
    api.advance("999ms")
    _, tokens = ask(api, grant_type="password", username="owner", password="anything")

    api.advance("3599999ms")
    before = api.dns(token=tokens["access_token"])
    api.advance("2ms")
    after = api.dns(token=tokens["access_token"])

    assert (before.status, after.status) == (200, 401)


def test_the_password_grant_accepts_an_email_address(api: CheckedWorld) -> None:
    status, tokens = ask(api, grant_type="password", username="max@acme.example")

    assert status == 200
    assert token_parts(tokens["access_token"])[1]["email"] == "max@acme.example"


@pytest.mark.parametrize("basic", [True, False], ids=["basic", "in the form"])
def test_the_client_credentials_grant_gives_a_token_without_a_session(
    api: CheckedWorld, basic: bool
) -> None:
    headers = {}
    form = {"client_id": "owner", "client_secret": "anything"}
    if basic:
        headers = {"Authorization": "Basic " + b64encode(b"owner:anything").decode()}
        form = {}

    status, tokens = ask(api, headers, grant_type="client_credentials", **form)

    assert status == 200
    assert api.dns(token=tokens["access_token"]).status == 200
    expect_problem(api.create_key(token=tokens["access_token"]), 403, "interactive_login_required")


def test_the_token_of_a_user_without_an_organization_has_no_org_id(api: CheckedWorld) -> None:
    _, tokens = ask(api, grant_type="password", username="no-organization")

    assert "org_id" not in token_parts(tokens["access_token"])[1]


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"grant_type": "password", "username": "nobody"}, "invalid_grant"),
        ({"grant_type": "password", "username": "owner", "organization": "hobby"}, "invalid_grant"),
        ({"grant_type": "password"}, "invalid_grant"),
        ({"grant_type": "implicit"}, "unsupported_grant_type"),
        ({"username": "owner"}, "unsupported_grant_type"),
    ],
)
def test_the_token_endpoint_refuses_with_the_error_codes_of_oauth(
    api: CheckedWorld, form: dict[str, str], error: str
) -> None:
    status, problem_document = ask(api, None, **form)

    assert status == 400
    assert problem_document["error"] == error


@pytest.mark.parametrize("grant_type", ["password", "client_credentials"])
def test_a_page_of_another_origin_gets_no_token_for_a_name(
    api: CheckedWorld, grant_type: str
) -> None:
    form = {"grant_type": grant_type, "username": "owner", "client_id": "owner"}
    own_origin = (
        discover(api)["token_endpoint"].partition("/_emulator/")[0].partition("/worlds/")[0]
    )

    assert ask(api, {"Origin": own_origin}, **form)[0] == 200
    status, refusal = ask(api, {"Origin": "http://localhost:5173"}, **form)
    assert (status, refusal["error"]) == (400, "unauthorized_client")
    assert refusal["error_description"] == (
        "a web page on another origin can use only authorization_code and refresh_token"
    )
