"""The complete reasons for refusing an access token, an API key, a code or a refresh token."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import jwt
import pytest

from hosting_emulator.engine.json_web_tokens import base64url
from hosting_emulator.engine.sign_ins import GrantRefused
from tests.support.forged_tokens import token_parts
from tests.support.in_process import InProcess, fresh_world

#: The world time of the requests, in seconds.
NOW_S = 1_767_225_600
ISSUER = "http://127.0.0.1/_emulator/idp"


def claims_in(api: InProcess) -> dict[str, Any]:
    return token_parts(api.token())[1]


def signed(api: InProcess, **changes: Any) -> str:
    """Return a token that the world signs, with changed claims. None removes a claim."""
    claims = {**claims_in(api), **changes}
    return api.engine.access_tokens.sign(
        {name: value for name, value in claims.items() if value is not None}
    )


def detail_of(api: InProcess, *authorization: str) -> str:
    """Return the detail of the response to a request with these Authorization headers."""
    headers = [("Authorization", value) for value in authorization]
    response = api.send("GET", api.project_path("edge-dns"), headers)
    assert response.status == 401
    return str(response.json["detail"])


@pytest.mark.parametrize(
    ("authorization", "detail"),
    [
        ([], "The request has no Authorization header; send a bearer token."),
        (
            ["Bearer a", "Bearer b"],
            "The request must have exactly one Authorization header, `Bearer <token>`.",
        ),
        (
            ["Basic a"],
            "The request must have exactly one Authorization header, `Bearer <token>`.",
        ),
        (
            ["Bearer"],
            "The request must have exactly one Authorization header, `Bearer <token>`.",
        ),
        (["Bearer a"], "The bearer token is neither an access token nor an API key."),
        (["Bearer a.b.!"], "The bearer token is not an access token."),
        (["Bearer a.b.c"], "The bearer token is not an access token."),
    ],
)
def test_the_response_says_why_an_authorization_header_is_refused(
    authorization: list[str], detail: str
) -> None:
    assert detail_of(InProcess(), *authorization) == detail


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"iss": f"{ISSUER}/x"}, "The access token comes from another issuer."),
        ({"aud": "another-api"}, "The access token is for another audience."),
        ({"sub": None}, "The access token lacks the sub claim."),
        ({"iat": None}, "The access token lacks the iat claim."),
        ({"nbf": "later"}, "The access token's times are not numbers."),
        ({"exp": 10**12 + 1}, "The access token's times are not numbers."),
        ({"org_id": 7}, "The access token's claims are not printable strings."),
        ({"sid": "a\nb"}, "The access token's claims are not printable strings."),
        ({"exp": NOW_S}, "The access token expired at 2026-01-01T00:00:00.000Z."),
        ({"nbf": NOW_S + 1}, "The access token is not valid before 2026-01-01T00:00:01.000Z."),
        ({"iat": NOW_S + 1}, "The access token is not valid before 2026-01-01T00:00:01.000Z."),
    ],
    ids=str,
)
def test_the_response_says_which_claim_of_an_access_token_is_refused(
    changes: dict[str, Any], detail: str
) -> None:
    api = InProcess()

    assert detail_of(api, f"Bearer {signed(api, **changes)}") == detail


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": NOW_S + 1},
        {"exp": 10**12},
        {"nbf": NOW_S},
        {"iat": NOW_S},
        {"org_id": "", "sid": ""},
    ],
    ids=str,
)
def test_a_claim_at_its_limit_is_accepted(changes: dict[str, Any]) -> None:
    api = InProcess()

    response = api.dns(token=signed(api, **changes))

    assert response.status == (403 if "org_id" in changes else 200)


def test_a_token_that_was_accepted_is_refused_once_the_audience_has_changed() -> None:
    api = InProcess()

    assert api.dns().status == 200
    api.set_assumptions(token_audience="another-api")

    assert api.dns().status == 401


@pytest.mark.parametrize(("characters", "status"), [(1_000, 200), (10_000, 401)])
def test_a_token_that_is_much_longer_than_any_real_one_is_refused(
    characters: int, status: int
) -> None:
    api = InProcess()

    assert api.dns(token=signed(api, note="x" * characters)).status == status


def test_the_header_of_a_token_names_the_key_that_signed_it() -> None:
    api = InProcess()
    tokens = api.engine.access_tokens

    header, _, _ = token_parts(api.token())

    assert header == {"alg": "EdDSA", "typ": "JWT", "kid": tokens.kid}
    assert tokens.kid in {key["kid"] for key in tokens.jwks()["keys"]}


def test_the_response_names_the_algorithm_that_the_issuer_uses() -> None:
    api = InProcess()
    token = jwt.encode(claims_in(api), "secret" * 8, "HS256")

    assert detail_of(api, f"Bearer {token}") == (
        "The access token is signed with a different algorithm; this issuer uses EdDSA."
    )


@pytest.mark.parametrize(
    ("issuer", "reasons"),
    [
        (
            ISSUER,
            (
                "the token names this world, but was signed with the key of a different emulator "
                "or seed",
            ),
        ),
        ("https://issuer.example", ("the token comes from another issuer",)),
        (
            "http://127.0.0.1/_emulator/worlds/other/idp",
            (
                "this token belongs to other; the request reached default. A client that resolves "
                "/v1/… as a URL against the base URL of other loses its path /worlds/other: append "
                "/v1/… to the base URL as text",
            ),
        ),
        ("http://[::1", ("The access token was not signed by this issuer.",)),
    ],
)
def test_the_request_log_says_who_signed_a_foreign_token(
    issuer: str, reasons: tuple[str, ...]
) -> None:
    api = InProcess()
    stranger = InProcess(fresh_world(seed="another seed"))
    token = signed(stranger, iss=issuer)

    assert detail_of(api, f"Bearer {token}") == "The access token was not signed by this issuer."
    [entry] = api.engine.log.after(0)
    assert entry.why == reasons


def test_the_request_log_names_the_world_of_a_foreign_api_key_or_ticket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = InProcess(fresh_world("other"))
    api = InProcess()
    monkeypatch.setattr(api.engine, "worlds", lambda: [api.engine, other.engine])
    key = other.create_key("ci").json["value"]
    ticket = other.ticket().json["redeem_url"]

    api.dns(token=key)
    api.redeem(ticket)

    rest = (
        " belongs to other; the request reached default. A client that resolves /v1/… as a URL "
        "against the base URL of other loses its path /worlds/other: append /v1/… to the base URL "
        "as text"
    )
    assert [entry.why for entry in api.engine.log.after(0)] == [
        (f"this API key{rest}",),
        (f"this ticket{rest}",),
    ]


# --- Codes and refresh tokens ---------------------------------------------------------------------

VERIFIER = "a verifier"
REDIRECT_URI = "http://127.0.0.1/callback"


class SignIn:
    """A sign-in whose client redeems its codes and refresh tokens."""

    def __init__(self) -> None:
        self.api = InProcess()
        self._sign_ins = self.api.engine.sign_ins

    def code(self) -> str:
        challenge = base64url(sha256(VERIFIER.encode()).digest())
        return self.api.issue_authorization_code(
            "owner", "openid offline_access", REDIRECT_URI, challenge
        )

    def redeem(
        self,
        code: str,
        client_id: str = "client",
        redirect_uri: str = REDIRECT_URI,
        verifier: str = VERIFIER,
    ) -> str | None:
        """Redeem a code, and return the refresh token."""
        change = self.api.engine.begin_change()
        try:
            grant = self._sign_ins.redeem_code(change, code, client_id, redirect_uri, verifier)
            _, token = self._sign_ins.keep_grant(change, grant, change.now_ms)
        finally:
            self.api.engine.commit(change, "code redeemed")
        return token

    def refresh(self, token: str | None, client_id: str = "client") -> str | None:
        """Redeem a refresh token, and return the next one."""
        assert token is not None
        change = self.api.engine.begin_change()
        try:
            grant = self._sign_ins.redeem_refresh_token(change, token, client_id)
            _, following = self._sign_ins.keep_grant(change, grant, change.now_ms)
        finally:
            self.api.engine.commit(change, "token refreshed")
        return following


def redeem_late(sign_in: SignIn) -> None:
    code = sign_in.code()
    sign_in.api.advance("60s")
    sign_in.redeem(code)


def redeem_twice(sign_in: SignIn) -> None:
    code = sign_in.code()
    sign_in.redeem(code)
    sign_in.redeem(code)


def refresh_twice(sign_in: SignIn) -> None:
    token = sign_in.redeem(sign_in.code())
    sign_in.refresh(token)
    sign_in.refresh(token)


def refresh_late(sign_in: SignIn) -> None:
    token = sign_in.redeem(sign_in.code())
    sign_in.api.advance(f"{30 * 24}h")
    sign_in.refresh(token)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (
            lambda sign_in: sign_in.redeem("unknown"),
            "the code was not issued by this world, or expired long ago",
        ),
        (redeem_twice, "the code was used before; its tokens are revoked"),
        (redeem_late, "the code expired: it is valid for 60 s of world time"),
        (
            lambda sign_in: sign_in.redeem(sign_in.code(), client_id="other"),
            "the code was issued to a different client_id",
        ),
        (
            lambda sign_in: sign_in.redeem(sign_in.code(), redirect_uri=f"{REDIRECT_URI}/"),
            "redirect_uri differs from the redirect URI for which the code was issued",
        ),
        (
            lambda sign_in: sign_in.redeem(sign_in.code(), verifier="other"),
            "code_verifier does not match the code_challenge",
        ),
        (
            lambda sign_in: sign_in.refresh("unknown"),
            "the refresh token was not issued by this world, or has expired",
        ),
        (refresh_late, "the refresh token was not issued by this world, or has expired"),
        (
            refresh_twice,
            "the refresh token has already been used or revoked; sign in again",
        ),
        (
            lambda sign_in: sign_in.refresh(sign_in.redeem(sign_in.code()), client_id="other"),
            "the refresh token was issued to a different client_id",
        ),
    ],
)
def test_a_refused_grant_has_this_reason(act: Callable[[SignIn], object], reason: str) -> None:
    with pytest.raises(GrantRefused) as refused:
        act(SignIn())

    assert str(refused.value) == reason


def test_a_code_and_a_refresh_token_are_valid_until_the_end_of_their_lifetimes() -> None:
    sign_in = SignIn()
    code = sign_in.code()
    sign_in.api.engine.move_by(59_999)

    token = sign_in.redeem(code)
    sign_in.api.advance(f"{30 * 24 - 1}h")

    assert sign_in.refresh(token) is not None


def test_the_second_use_of_a_code_or_a_refresh_token_revokes_the_grant() -> None:
    sign_in = SignIn()
    code = sign_in.code()
    token = sign_in.redeem(code)
    following = sign_in.refresh(token)
    for use in (lambda: sign_in.redeem(code), lambda: sign_in.refresh(following)):
        with pytest.raises(GrantRefused):
            use()

    [(_, grant)] = sign_in.api.records("authorization_grants").items()
    assert grant.revoked


def test_the_session_of_a_browser_lasts_seven_days() -> None:
    api = InProcess()
    sign_ins = api.engine.sign_ins
    cookie = sign_ins.session_cookie("a-session", api.engine.now_ms())

    def session_id() -> str | None:
        return sign_ins.session_id_from_cookie(cookie, api.engine.begin_change())

    api.engine.move_by(7 * 86_400_000 - 1)
    assert session_id() == "a-session"

    api.engine.move_by(1)
    assert session_id() is None
