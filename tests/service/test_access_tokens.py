"""Access tokens: which are refused, how long they are valid, and the claims they must have."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from hosting_emulator.sdk import HostingEmulator, WorldSnapshot
from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.forged_tokens import (
    claims_of,
    decode_part,
    encode_part,
    jwks,
    sign_token,
    token_parts,
    world_key,
)
from tests.support.response_checks import expect_problem
from tests.support.wire import wire


def refused(response: Response) -> None:
    expect_problem(response, 401, "unauthenticated")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


# --- The header ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic b3duZXI6cGFzcw==",
        "Token {token}",
        "{token}",
        "Bearer {token} {token}",
        "Bearer {token},Bearer {token}",
        "Bearer:{token}",
        'Bearer "{token}"',
        "Bearer null",
        "Bearer undefined",
        "Bearer .",
        "Bearer ..",
        "Bearer ...",
        "Bearer a.b.c",
        "Bearer phk_",
        "Bearer \xc3\xa9\xff",
        "Bearer \xc3\xa9.\xff.\xff",
    ],
)
def test_an_authorization_header_without_exactly_one_bearer_token_is_refused(
    api: CheckedWorld, header: str | None
) -> None:
    token = api.emulator.token()
    headers = {} if header is None else {"Authorization": header.format(token=token)}

    refused(api.call("GET", api.project_path("edge-dns"), user=None, headers=headers))


def test_two_authorization_headers_are_refused(api: CheckedWorld) -> None:
    header = ("Authorization", f"Bearer {api.emulator.token()}")
    with wire(api.emulator.base_url) as connection:
        connection.send_request("GET", api.project_path("edge-dns"), [header, header])

        refused(connection.read_response())


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_the_scheme_is_case_insensitive(api: CheckedWorld, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} {api.emulator.token()}"}

    response = api.call("GET", api.project_path("edge-dns"), user=None, headers=headers)

    assert response.status == 200


@pytest.mark.parametrize("where", ["?access_token={token}", "?token={token}"])
def test_a_token_in_the_url_is_not_accepted(api: CheckedWorld, where: str) -> None:
    query = where.format(token=api.emulator.token())

    refused(api.call("GET", api.project_path("edge-dns") + query, user=None))


def test_a_token_in_a_cookie_is_not_accepted(api: CheckedWorld) -> None:
    """No cookie session is assumed."""
    headers = {"Cookie": f"Authorization=Bearer {api.emulator.token()}; token=x"}

    refused(api.call("GET", api.project_path("edge-dns"), user=None, headers=headers))


# --- Forgeries ----------------------------------------------------------------------------------

Forge = Callable[[CheckedWorld], str]


def _public_bytes(api: CheckedWorld) -> bytes:
    return decode_part(jwks(api)["keys"][0]["x"])


def _unsigned(alg: str, signature: str = "") -> Forge:
    def forge(api: CheckedWorld) -> str:
        return (
            f"{encode_part({'alg': alg, 'typ': 'JWT'})}.{encode_part(claims_of(api))}.{signature}"
        )

    return forge


def _confused(secret: Callable[[CheckedWorld], bytes], alg: str = "HS256") -> Forge:
    """Sign with HMAC, with the published public key as the secret."""

    def forge(api: CheckedWorld) -> str:
        kid = jwks(api)["keys"][0]["kid"]
        text = (
            f"{encode_part({'alg': alg, 'typ': 'JWT', 'kid': kid})}.{encode_part(claims_of(api))}"
        )
        name = alg.replace("HS", "sha")
        return f"{text}.{encode_part(hmac.new(secret(api), text.encode(), name).digest())}"

    return forge


def _pem(api: CheckedWorld) -> bytes:
    key = world_key(api).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _der(api: CheckedWorld) -> bytes:
    key = world_key(api).public_key()
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _by_another_key(key: Any, alg: str) -> Forge:
    def forge(api: CheckedWorld) -> str:
        kid = jwks(api)["keys"][0]["kid"]
        return jwt.encode(claims_of(api), key, alg, headers={"kid": kid})

    return forge


def _bringing_its_own_key(api: CheckedWorld) -> str:
    key = Ed25519PrivateKey.generate()
    x = encode_part(key.public_key().public_bytes_raw())
    headers = {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": x}, "kid": "mine"}
    return jwt.encode(claims_of(api), key, "EdDSA", headers=headers)


def _tampered(**changes: Any) -> Forge:
    def forge(api: CheckedWorld) -> str:
        header, _, signature = api.emulator.token("reader").split(".")
        return f"{header}.{encode_part({**claims_of(api, 'reader'), **changes})}.{signature}"

    return forge


def _as_the_owner(api: CheckedWorld) -> str:
    """Carry the owner's claims under the reader's signature."""
    _, claims, _ = api.emulator.token("owner").split(".")
    header, _, signature = api.emulator.token("reader").split(".")
    return f"{header}.{claims}.{signature}"


def _with_signature(change: Callable[[bytes], bytes]) -> Forge:
    def forge(api: CheckedWorld) -> str:
        text, _, signature = api.emulator.token().rpartition(".")
        return f"{text}.{encode_part(change(decode_part(signature)))}"

    return forge


def _with_header(change: Any) -> Forge:
    def forge(api: CheckedWorld) -> str:
        _, claims, signature = api.emulator.token().split(".")
        return f"{encode_part(change)}.{claims}.{signature}"

    return forge


FORGERIES: dict[str, Forge] = {
    "alg none": _unsigned("none"),
    "alg None": _unsigned("None"),
    "alg nOnE": _unsigned("nOnE"),
    "alg none with a signature": _unsigned("none", "AAAA"),
    "no alg": _with_header({"typ": "JWT"}),
    "alg EdDSA without a signature": _unsigned("EdDSA"),
    "HS256 with the raw public key": _confused(_public_bytes),
    "HS256 with the public key as PEM": _confused(_pem),
    "HS256 with the public key as DER": _confused(_der),
    "HS256 with the public key as in the JWKS": _confused(
        lambda api: jwks(api)["keys"][0]["x"].encode()
    ),
    "HS256 with the whole JWKS": _confused(lambda api: json.dumps(jwks(api)).encode()),
    "HS512 with the raw public key": _confused(_public_bytes, "HS512"),
    "HS256 with the empty secret": _confused(lambda api: b""),
    "another Ed25519 key under our kid": _by_another_key(Ed25519PrivateKey.generate(), "EdDSA"),
    "an ES256 key": _by_another_key(ec.generate_private_key(ec.SECP256R1()), "ES256"),
    "an RS256 key": _by_another_key(rsa.generate_private_key(65537, 2048), "RS256"),
    "a key the token brings along": _bringing_its_own_key,
    "another user": _tampered(sub="01JGFJJZ000000000000000000"),
    "the owner's claims": _as_the_owner,
    "another organization": _tampered(org_id="01JGFJJZ000000000000000000"),
    "a later expiry": _tampered(exp=99_999_999_999),
    "another flavour of session": _tampered(sid="more"),
    "a signature cut short": _with_signature(lambda s: s[:-1]),
    "a signature with one bit changed": _with_signature(lambda s: s[:-1] + bytes([s[-1] ^ 1])),
    "a signature of zeros": _with_signature(lambda s: bytes(len(s))),
    "a signature twice": _with_signature(lambda s: s + s),
    "a header that is a list": _with_header("[]"),
    "a header that is null": _with_header("null"),
    "a header that is no JSON": _with_header("{"),
    "a header nested too deeply": _with_header("[" * 5000),
    "a number of many digits": _with_header("1" * 5000),
    "an alg that is a list": _with_header({"alg": ["EdDSA"]}),
    "an unknown critical extension": _with_header({"alg": "EdDSA", "crit": ["x"], "x": 1}),
    "a detached payload": lambda api: "..".join(api.emulator.token().split(".")[::2]),
    "four parts": lambda api: api.emulator.token() + ".AAAA",
    "two parts": lambda api: api.emulator.token().rpartition(".")[0],
    "a very long token": lambda api: api.emulator.token() + "A" * 7000,
    "padding": lambda api: api.emulator.token() + "==",
    "letters that base64url has not": lambda api: "!.".join(api.emulator.token().rsplit(".", 1)),
    "upper case": lambda api: api.emulator.token().upper(),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_token_is_refused(api: CheckedWorld, name: str) -> None:
    forged = FORGERIES[name](api)

    refused(api.dns(token=forged))
    refused(api.set_flag(False, token=forged))


def test_a_valid_token_stays_valid_after_a_forged_one_was_refused(api: CheckedWorld) -> None:
    """The cache of verified tokens must not accept another token."""
    good = api.emulator.token()
    assert api.dns(token=good).status == 200
    text, _, signature = good.rpartition(".")

    refused(api.dns(token=f"{text}.{signature[:-4]}AAAA"))
    assert api.dns(token=good).status == 200


# --- Claims that only the identity provider can sign ----------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://issuer.example/"},
        {"iss": "https://issuer.example"},
        {"iss": ""},
        {"iss": 7},
        {"iss": None},
        {"iss": "http://[::1"},
        {"aud": "another-api"},
        {"aud": ["another-api"]},
        {"aud": ""},
        {"aud": None},
        {"sub": 7},
        {"sub": "\ud800"},
        {"org_id": ["x"]},
        {"org_id": "\udfff"},
        {"sid": 7},
        {"sid": "a\r\nb"},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": None},
        {"exp": [1]},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**400},
        {"iat": "yesterday"},
        {"iat": float("nan")},
        {"iat": 10**400},
        {"nbf": "yesterday"},
        {"nbf": float("nan")},
    ],
    ids=lambda change: ", ".join(f"{k}={str(v)[:30]}" for k, v in change.items()),
)
def test_a_token_with_a_foreign_or_malformed_claim_is_refused(
    api: CheckedWorld, change: dict[str, Any]
) -> None:
    refused(api.dns(token=sign_token(api, {**claims_of(api), **change})))


@pytest.mark.parametrize("missing", ["iss", "aud", "sub", "iat", "exp"])
def test_a_token_that_lacks_a_claim_is_refused(api: CheckedWorld, missing: str) -> None:
    claims = claims_of(api)
    del claims[missing]

    refused(api.dns(token=sign_token(api, claims)))


def test_a_token_with_several_audiences_and_extra_claims_is_accepted(api: CheckedWorld) -> None:
    """Tokens signed by `signed` are valid, so the tests above are refused for the changed claim."""
    claims = {**claims_of(api), "aud": [claims_of(api)["aud"], "another-api"], "extra": {"x": 1}}

    assert api.dns(token=sign_token(api, claims)).status == 200


def test_a_token_of_another_world_is_refused(api: CheckedWorld) -> None:
    control = api.emulator.control
    fork = control.world(api.emulator.name).copy().name
    try:
        theirs = control.world(fork).mint_token("owner").access_token
    finally:
        control.world(fork).delete()
    default = control.world().mint_token("owner").access_token

    refused(api.dns(token=theirs))
    refused(api.dns(token=default))


# --- Time ---------------------------------------------------------------------------------------


def token_of_a_sign_in(api: CheckedWorld) -> dict[str, Any]:
    """Sign the owner in at the world's identity provider, and return the token response."""
    form = urlencode({"grant_type": "password", "username": "owner"}).encode()
    with urlopen(f"{api.emulator.summary.issuer}/token", form) as response:
        tokens: dict[str, Any] = json.load(response)
    return tokens


def test_a_token_from_signing_in_is_valid_for_an_hour_of_world_time(api: CheckedWorld) -> None:
    tokens = token_of_a_sign_in(api)
    assert tokens["expires_in"] == 3600

    api.advance("59m59s999ms")
    assert api.dns(token=tokens["access_token"]).status == 200
    api.advance("1ms")
    refused(api.dns(token=tokens["access_token"]))


def test_a_token_of_a_tool_is_valid_for_ten_years_of_world_time(api: CheckedWorld) -> None:
    token = api.emulator.mint_token("owner")
    assert token.expires_in == 3650 * 86_400

    api.advance("3649d23h59m59s999ms")
    assert api.dns(token=token.access_token).status == 200
    api.advance("1ms")
    refused(api.dns(token=token.access_token))


EARLY_SCENARIO = "{name: early, description: Long ago., clock: {at: '1970-01-01T00:00:00Z'}}"
#: The ways in which world time goes back: each leads a world back to the state of a snapshot or
#: to an even earlier time.
WAYS_BACK: dict[str, Callable[[HostingEmulator, WorldSnapshot], Any]] = {
    "reset": lambda world, _: world.reset(),
    "rewind": lambda world, _: world.rewind(world.commits()[-1].commit),
    "snapshot": lambda world, snapshot: world.restore(snapshot),
    "scenario": lambda world, _: world.load_scenario(text=EARLY_SCENARIO),
}


@pytest.mark.parametrize("way", WAYS_BACK)
@pytest.mark.parametrize("options", [{}, {"lifetime": "90d"}])
def test_a_token_of_a_tool_stays_valid_when_world_time_goes_back(
    api: CheckedWorld, way: str, options: Any
) -> None:
    # given a token that is handed out on the next day, in the session after the first
    emulator = api.emulator
    snapshot = emulator.snapshot()
    api.advance("1d")
    emulator.intervene("end_session", user="owner")
    token = emulator.mint_token("owner", **options).access_token

    WAYS_BACK[way](emulator, snapshot)

    assert api.dns(token=token).status == 200
    assert api.create_key(token=token).status == 201


def test_each_token_is_new_although_the_clock_stands_still(api: CheckedWorld) -> None:
    by_hand = [api.emulator.mint_token("owner").access_token for _ in range(2)]
    by_signing_in = [token_of_a_sign_in(api)["access_token"] for _ in range(2)]

    assert len({*by_hand, *by_signing_in}) == 4


def test_a_token_that_was_never_used_expires_too(api: CheckedWorld) -> None:
    token = api.emulator.token("owner", lifetime="60s")
    api.advance("60s")

    refused(api.dns(token=token))


def test_a_token_is_refused_before_its_nbf_or_iat(api: CheckedWorld) -> None:
    claims = claims_of(api)
    now_s = int(api.now().timestamp())
    later = sign_token(api, {**claims, "nbf": now_s + 100})
    from_the_future = sign_token(api, {**claims, "iat": now_s + 100})

    for token in (later, from_the_future):
        refused(api.dns(token=token))
    api.advance("100s")
    for token in (later, from_the_future):
        assert api.dns(token=token).status == 200


def test_a_token_is_valid_from_the_moment_it_is_minted(api: CheckedWorld) -> None:
    # given a moment in the middle of a second: `iat` is in whole seconds
    api.advance("999ms")

    token = api.emulator.token("owner", lifetime="60s")

    assert api.dns(token=token).status == 200


# --- What it says ---------------------------------------------------------------------------------


def test_a_token_has_the_claims_of_its_user(api: CheckedWorld) -> None:
    users = {p.alias: p for p in api.emulator.summary.users}
    tokens = token_of_a_sign_in(api)
    claims = token_parts(tokens["access_token"])[1]

    assert claims["sub"] == users["owner"].id
    assert claims["org_id"] == api.emulator.organization
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["iat"] == int(api.now().timestamp())
    assert claims["sid"]
    tool_claims = token_parts(api.emulator.token("owner", lifetime="10m"))[1]
    assert tool_claims["iat"] == 0
    assert tool_claims["exp"] == claims["iat"] + 600
    assert "sid" not in token_parts(api.emulator.token("owner", interactive=False))[1]
    assert "org_id" not in token_parts(api.emulator.token("no-organization"))[1]


def calls(api: CheckedWorld, **options: Any) -> dict[str, Response]:
    return {
        "1": api.set_flag(False, **options),
        "2": api.initialize(1, **options),
        "3": api.create_key(**options),
        "4": api.apply_domains(**options),
        "5": api.dns(**options),
        "6": api.deployments(**options),
        "7": api.ticket(**options),
        "8": api.compute(**options),
        "poll": api.poll("01JGFJJZ000000000000000000", **options),
    }


def test_every_call_needs_a_token(api: CheckedWorld) -> None:
    for response in calls(api, user=None).values():
        refused(response)


def test_every_call_needs_an_organization(api: CheckedWorld) -> None:
    for response in calls(api, user="no-organization").values():
        expect_problem(response, 403, "organization_required")


def test_only_call_3_needs_a_session(api: CheckedWorld) -> None:
    responses = calls(api, token=api.emulator.token("owner", interactive=False))

    expect_problem(responses.pop("3"), 403, "interactive_login_required")
    expect_problem(responses.pop("poll"), 404, "resource_not_found")
    assert {response.status for response in responses.values()} <= {200, 201, 202}


def test_a_token_for_an_organization_of_other_users_gives_access_to_nothing(
    api: CheckedWorld,
) -> None:
    # given a token whose user does not belong to the organization it names
    token = api.emulator.token("owner", organization="hobby")

    expect_problem(api.dns(token=token, project="garden"), 404, "resource_not_found")
    expect_problem(api.dns(token=token, project="shop"), 404, "resource_not_found")
    expect_problem(api.create_key(token=token, organization="hobby"), 404, "resource_not_found")
    expect_problem(api.create_key(token=token, organization="acme"), 404, "resource_not_found")


def test_a_stored_digest_is_not_accepted_as_a_credential(api: CheckedWorld) -> None:
    """A state file must contain nothing that works as a credential."""
    api.create_key()
    keys = api.state()["tables"]["user_api_keys"].values()
    digest = next(iter(keys))["digest"]

    refused(api.dns(token=digest))
    refused(api.dns(token="phk_" + digest[:43]))
    assert len(digest) == len(hashlib.sha256().hexdigest())
