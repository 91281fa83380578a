"""ID tokens: a sound key that depends on the seed alone, and tokens that only it signs."""

from __future__ import annotations

import jwt

from hosting_emulator.engine.identity import Identity, id_token_key

ISSUER = "http://127.0.0.1/_emulator/idp"


def test_the_key_of_a_seed_is_sound_and_always_the_same() -> None:
    key = id_token_key("")
    again = id_token_key.__wrapped__("")

    assert key.key_size == 2048
    assert key.private_numbers() == again.private_numbers()
    numbers = key.private_numbers()
    assert numbers.p != numbers.q
    assert numbers.p * numbers.q == numbers.public_numbers.n


def test_two_seeds_have_two_keys() -> None:
    assert Identity("", "w").jwks()["keys"][1]["n"] != Identity("a", "w").jwks()["keys"][1]["n"]


def test_a_token_is_read_back_by_its_issuer_alone() -> None:
    ours = Identity("a", "w")
    token = ours.id_token({"iss": ISSUER, "aud": "app", "exp": 1}, "an access token")

    found = ours.read_id_token(token, ISSUER)

    assert found is not None
    assert found["aud"] == "app"
    assert ours.read_id_token(token, ISSUER + "/other") is None
    assert Identity("", "w").read_id_token(token, ISSUER) is None
    assert ours.read_id_token(jwt.encode(found, "k" * 32, "HS256"), ISSUER) is None
