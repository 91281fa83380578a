"""ID tokens: the published test key signs them, and their issuer tells worlds apart."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from hosting_emulator.engine.access_tokens import AccessTokens
from hosting_emulator.engine.id_token_key import id_token_key
from hosting_emulator.engine.id_tokens import read_id_token, sign_id_token
from tests.support.in_process import InProcess

ISSUER = "http://127.0.0.1/_emulator/idp"
CLAIMS = {"iss": ISSUER, "aud": "app", "sid": "session", "exp": 1}


def test_the_key_is_a_sound_rsa_key_of_2048_bits() -> None:
    numbers = id_token_key().private_numbers()

    assert id_token_key().key_size == 2048
    assert numbers.p * numbers.q == numbers.public_numbers.n
    assert numbers.public_numbers.e == 65537


def test_worlds_of_any_seed_show_the_same_key_for_id_tokens() -> None:
    first = AccessTokens("a", "w").jwks()["keys"]
    second = AccessTokens("b", "v").jwks()["keys"]

    assert first[1] == second[1]
    assert first[0] != second[0]


def test_an_id_token_is_accepted_only_for_its_own_issuer() -> None:
    token = sign_id_token(CLAIMS, "an access token")

    claims = read_id_token(token, ISSUER)

    assert claims is not None
    assert claims["aud"] == "app"
    assert read_id_token(token, ISSUER + "/other") is None


def test_an_id_token_signed_with_another_key_is_rejected() -> None:
    token = jwt.encode(CLAIMS, "k" * 32, "HS256")

    assert read_id_token(token, ISSUER) is None


@pytest.mark.parametrize("missing", ["iss", "aud", "sid"])
def test_an_id_token_without_a_required_claim_is_rejected(missing: str) -> None:
    claims: dict[str, Any] = {name: value for name, value in CLAIMS.items() if name != missing}
    token = jwt.encode(claims, id_token_key(), "RS256")

    assert read_id_token(token, ISSUER) is None


def test_the_published_keys_of_a_world_have_their_names_and_uses() -> None:
    [access_key, id_key] = InProcess().engine.access_tokens.jwks()["keys"]

    assert {**access_key, "x": "", "kid": ""} == {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": "",
        "kid": "",
        "use": "sig",
        "alg": "EdDSA",
    }
    assert {**id_key, "n": ""} == {
        "kty": "RSA",
        "n": "",
        "e": "AQAB",
        "kid": "rfc9500-test-rsa-2048",
        "use": "sig",
        "alg": "RS256",
    }
    assert access_key["x"]
    assert id_key["n"]
