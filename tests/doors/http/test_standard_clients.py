"""Standard OpenID clients, used as their manuals describe, sign a user in and call the API.

World time is real time in these tests, because the clients check tokens by their own clock.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hosting_emulator_scenarios import FOLDER
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.node_packages import link_package
from tests.support.sign_in_client import Browser

CALLBACK = "http://localhost:5173/callback"
SCOPE = "openid profile email offline_access"
CLIENT = Path(__file__).with_name("standard_client.mjs")


@pytest.fixture(scope="module")
def server() -> Iterator[BackgroundEmulator]:
    with emulator_in_thread(clock="real", library=FOLDER) as running:
        yield running


@pytest.fixture
def issuer(server: BackgroundEmulator) -> str:
    return f"{server.base_url}/_emulator/idp"


def follow(issuer: str, url: str) -> str:
    """Open the sign-in page, choose the owner as a user does, and return the redirect target."""
    browser = Browser(issuer)
    page = browser.send(url.removeprefix(issuer))
    form = page.fields() | {"choice": page.choice("owner")}
    location = browser.send("/authorize", form).headers["Location"]
    assert urlsplit(location).netloc == "localhost:5173"
    return str(location)


def test_authlib_signs_a_user_in(server: BackgroundEmulator, issuer: str):
    # An import at the top would load it in every worker of the tests.
    from authlib.integrations.requests_client import OAuth2Session  # type: ignore[import-untyped]
    from joserfc import jwk, jwt

    with OAuth2Session(
        client_id="web-app",
        scope=SCOPE,
        redirect_uri=CALLBACK,
        code_challenge_method="S256",
        token_endpoint_auth_method="none",
    ) as client:
        metadata = client.get(f"{issuer}/.well-known/openid-configuration", withhold_token=True)
        discovery = metadata.json()
        verifier = "v" * 64
        url, state = client.create_authorization_url(
            discovery["authorization_endpoint"], code_verifier=verifier, nonce="n"
        )
        token = client.fetch_token(
            discovery["token_endpoint"],
            authorization_response=follow(issuer, url),
            state=state,
            code_verifier=verifier,
        )
        keys = jwk.KeySet.import_key_set(
            client.get(discovery["jwks_uri"], withhold_token=True).json()
        )
        claims = jwt.decode(
            token["id_token"], keys, algorithms=discovery["id_token_signing_alg_values_supported"]
        ).claims
        registry = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": issuer}, aud={"essential": True, "value": "web-app"},
            nonce={"essential": True, "value": "n"},
        )  # fmt: skip
        registry.validate(claims)
        user_info = client.get(discovery["userinfo_endpoint"]).json()
        project = f"{server.base_url}/v1/projects/{server.ready.project_id}"
        response = client.get(f"{project}/edge-dns")
        renewed = client.refresh_token(discovery["token_endpoint"])

    assert user_info["sub"] == claims["sub"]
    assert response.status_code == 200
    assert renewed["access_token"]
    assert renewed["refresh_token"] != token["refresh_token"]


@pytest.mark.packaging
@pytest.mark.parametrize("version", ["6", "5"])
def test_openid_client_for_node_signs_a_user_in(
    server: BackgroundEmulator, issuer: str, version: str, tmp_path: Path
):
    """Version 5 accepts only RS256 by default."""
    link_package(tmp_path, "openid-client", f"openid-client-{version}")
    program = tmp_path / CLIENT.name
    program.write_bytes(CLIENT.read_bytes())
    call = f"{server.base_url}/v1/projects/{server.ready.project_id}/edge-dns"

    result = subprocess.run(
        ["node", str(program), version, issuer, CALLBACK, call],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )

    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip() == "signed in"
