"""Signing in by a browser: the authorization code flow with PKCE, and OpenID Connect."""

from __future__ import annotations

import json
import re
from html import escape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin
from urllib.request import urlopen

import jwt
import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.forged_tokens import sign_id_token
from tests.support.sign_in_client import CALLBACK, Browser, request_fields

HERE = "http://localhost:5173/callback"


@pytest.fixture
def browser(api: CheckedWorld) -> Browser:
    """A browser without a session, at the world's identity provider."""
    return Browser(api.emulator.summary.issuer)


def test_choosing_a_user_on_the_page_signs_that_user_in(
    api: CheckedWorld, browser: Browser
) -> None:
    back = browser.choose("owner")
    tokens = browser.redeem(back.parameters["code"]).json

    assert back.status == 303
    assert back.headers["Location"].startswith(CALLBACK + "&")
    assert (back.parameters["state"], back.parameters["iss"]) == ("a state & more", browser.issuer)
    assert tokens["token_type"] == "Bearer"
    assert tokens["scope"] == "openid profile email offline_access"
    assert api.create_key(token=tokens["access_token"]).status == 201  # it has a session


def test_the_sign_in_page_names_every_user_and_the_destination(browser: Browser) -> None:
    page = browser.authorize()

    assert page.text.count('<button name="choice"') == 5
    assert "http://localhost:5173" in page.text
    assert "staying signed in" in page.text
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "<script" not in page.text


def test_the_sign_in_page_lists_owners_first_and_users_without_an_organization_last(
    browser: Browser,
) -> None:
    aliases = re.findall(r"<span><code>([^<]+)</code>", browser.authorize().text)
    assert aliases == ["owner", "member", "reader", "outsider", "no-organization"]


def test_each_class_on_the_sign_in_page_has_a_style(browser: Browser) -> None:
    page = browser.authorize(login_hint="unheard-of", redirect_uri="http://127.0.0.1:5173/callback")
    styles = ""
    for path in re.findall(r'<link rel="stylesheet" href="([^"]+)"', page.text):
        with urlopen(urljoin(browser.issuer, path)) as response:
            styles += response.read().decode()

    classes = {
        name for value in re.findall(r'class="([^"]+)"', page.text) for name in value.split()
    }
    assert '<body class="sign-in">' in page.text
    assert [name for name in classes if f".{name}" not in styles] == []


class StrayText(HTMLParser):
    """Collects the text of a page that is directly in an element which only contains elements."""

    CONTAINERS = ("html", "head", "body", "main", "form", "ul", "ol", "header", "footer", "nav")
    VOID = ("meta", "link", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.stray: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.CONTAINERS and data.strip():
            self.stray.append(data.strip())


@pytest.mark.parametrize(
    "path",
    [
        "/authorize?" + urlencode(request_fields()),
        "/authorize?" + urlencode({**request_fields(), "login_hint": "unheard-of"}),
        "/authorize?"
        + urlencode({**request_fields(), "redirect_uri": "https://evil.example.com/"}),
        "/authorize",
        "/end-session",
        "/end-session?post_logout_redirect_uri=https://evil.example.com/",
        "/end-session?id_token_hint=a.b.c",
    ],
)
def test_a_page_of_the_provider_has_no_text_outside_of_its_elements(
    browser: Browser, path: str
) -> None:
    page = browser.send(path)

    assert "<main" in page.text
    parser = StrayText(page.text)
    assert (parser.open, parser.stray) == ([], [])


def test_a_refresh_after_the_end_of_the_session_says_so(
    api: CheckedWorld, browser: Browser
) -> None:
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    api.intervene("end_session", user="owner")

    refused = browser.refresh(tokens["refresh_token"])

    assert (refused.status, refused.json["error"]) == (400, "invalid_grant")
    assert refused.json["error_description"] == "the session has ended; sign in again"


def test_the_id_token_has_the_claims_of_openid(api: CheckedWorld, browser: Browser) -> None:
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    discovered = browser.send("/.well-known/openid-configuration").json
    keys = jwt.PyJWKSet.from_dict(browser.send("/jwks.json").json)
    header = jwt.get_unverified_header(tokens["id_token"])

    claims = jwt.decode(
        tokens["id_token"],
        keys[header["kid"]],
        algorithms=discovered["id_token_signing_alg_values_supported"],
        audience="web-app",
        issuer=browser.issuer,
        options={"verify_exp": False, "verify_iat": False},  # they follow the world's clock
    )

    assert header["alg"] == "RS256"
    assert claims["nonce"] == "n-1"
    assert claims["preferred_username"] == "owner"
    assert claims["org_id"] == api.emulator.organization
    assert claims["exp"] - claims["iat"] == tokens["expires_in"]


def test_an_id_token_is_not_accepted_as_an_access_token(
    api: CheckedWorld, browser: Browser
) -> None:
    """This holds even if the client has the name of the API's audience."""
    code = browser.choose("owner", client_id="hosting-control-api").parameters["code"]
    tokens = browser.redeem(code, client_id="hosting-control-api").json

    assert api.dns(token=tokens["id_token"]).status == 401
    assert api.dns(token=tokens["refresh_token"]).status == 401


@pytest.mark.parametrize(
    ("scope", "expected_claims"),
    [
        ("openid", {"sub"}),
        ("openid profile", {"sub", "name", "preferred_username"}),
        ("openid email unheard-of", {"sub", "email", "email_verified"}),
    ],
)
def test_userinfo_has_the_claims_of_the_requested_scopes(
    browser: Browser, scope: str, expected_claims: set[str]
) -> None:
    tokens = browser.redeem(browser.choose("owner", scope=scope).parameters["code"]).json

    bearer = f"Bearer {tokens['access_token']}"
    userinfo = browser.send("/userinfo", Authorization=bearer).json
    assert userinfo.keys() == expected_claims | {"org_id"}
    assert "refresh_token" not in tokens


def test_discovery_lists_every_claim_of_a_token_or_of_the_user(browser: Browser) -> None:
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    userinfo = browser.send("/userinfo", Authorization=f"Bearer {tokens['access_token']}").json
    claims = set(userinfo)
    for name in ("id_token", "access_token"):
        claims |= set(jwt.decode(tokens[name], options={"verify_signature": False}))

    discovered = browser.send("/.well-known/openid-configuration").json

    assert {"name", "email", "nonce"} <= claims
    assert claims - set(discovered["claims_supported"]) <= {"jti", "nbf"}


def test_a_client_without_the_scope_openid_gets_no_id_token(browser: Browser) -> None:
    tokens = browser.redeem(browser.choose("owner", scope=None).parameters["code"]).json

    assert "id_token" not in tokens
    assert tokens["scope"] == ""


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"code_verifier": "x" * 43}, "code_verifier"),
        ({"client_id": "another"}, "client_id"),
        ({"redirect_uri": "http://localhost:5173/"}, "redirect_uri"),
        ({"code": "made-up"}, "code"),
    ],
)
def test_a_code_is_bound_to_its_client_redirect_uri_and_verifier(
    browser: Browser, changed: dict[str, str], says: str
) -> None:
    code = browser.choose("owner").parameters["code"]

    refused = browser.redeem(**({"code": code} | changed))

    assert (refused.status, refused.json["error"]) == (400, "invalid_grant")
    assert says in refused.json["error_description"]
    if "code" not in changed:  # the refused attempt has used the code
        assert browser.redeem(code).json["error"] == "invalid_grant"


def test_a_code_that_is_redeemed_twice_revokes_its_refresh_token(browser: Browser) -> None:
    code = browser.choose("owner").parameters["code"]
    tokens = browser.redeem(code).json

    assert browser.redeem(code).json["error"] == "invalid_grant"
    assert browser.refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"


def test_a_code_is_valid_for_a_minute_of_world_time(api: CheckedWorld, browser: Browser) -> None:
    early, late = (browser.choose("owner").parameters["code"] for _ in range(2))

    api.advance("59s")
    assert browser.redeem(early).status == 200
    api.advance("1s")
    assert browser.redeem(late).json["error"] == "invalid_grant"


def test_each_refresh_gives_a_new_refresh_token(api: CheckedWorld, browser: Browser) -> None:
    first = browser.redeem(browser.choose("owner").parameters["code"]).json["refresh_token"]
    api.advance("29d")
    second = browser.refresh(first)

    assert api.dns(token=second.json["access_token"]).status == 200
    assert browser.refresh(first).json["error"] == "invalid_grant"  # and this ends the family:
    assert browser.refresh(second.json["refresh_token"]).json["error"] == "invalid_grant"


def test_a_refresh_token_is_valid_for_30_days_and_for_its_own_client(
    api: CheckedWorld, browser: Browser
) -> None:
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json

    assert browser.refresh(tokens["refresh_token"], client_id="another").status == 400
    api.advance("30d")
    assert browser.refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"


CHALLENGE = "code_challenge must be a SHA-256 digest in base64url"
PROMPT = "prompt must be none, or any of login, consent and select_account"


@pytest.mark.parametrize(
    ("changed", "error", "description"),
    [
        (
            {"response_type": "token"},
            "unsupported_response_type",
            "response_type must be code",
        ),
        ({"response_type": None}, "invalid_request", "response_type must be code"),
        (
            {"code_challenge": None},
            "invalid_request",
            "code_challenge is missing; PKCE is required",
        ),
        ({"code_challenge": "short"}, "invalid_request", CHALLENGE),
        ({"code_challenge": "x" * 44}, "invalid_request", CHALLENGE),
        (
            {"code_challenge_method": "plain"},
            "invalid_request",
            "code_challenge_method must be S256",
        ),
        ({"code_challenge_method": None}, "invalid_request", "code_challenge_method must be S256"),
        ({"prompt": "none"}, "login_required", "this browser has no session for the user"),
        ({"prompt": "none login"}, "invalid_request", PROMPT),
        ({"prompt": "dance"}, "invalid_request", PROMPT),
        ({"max_age": "soon"}, "invalid_request", "max_age must be a number of seconds"),
        ({"max_age": "1" * 11}, "invalid_request", "max_age must be a number of seconds"),
        (
            {"request": "a.b.c"},
            "request_not_supported",
            "the parameter request is not supported",
        ),
        (
            {"request_uri": "http://x"},
            "request_uri_not_supported",
            "the parameter request_uri is not supported",
        ),
        (
            {"response_mode": "form_post"},
            "invalid_request",
            "response_mode must be query or fragment",
        ),
        (
            {"login_hint": "owner", "organization": "hobby"},
            "access_denied",
            "the user does not belong to hobby",
        ),
    ],
)
def test_an_invalid_authorization_request_is_redirected_to_the_client_with_an_error(
    browser: Browser, changed: dict[str, str | None], error: str, description: str
) -> None:
    back = browser.authorize(**changed)

    assert back.status == 303
    assert back.headers["Location"].startswith(HERE)
    assert back.parameters == {
        "kept": "1",
        "error": error,
        "error_description": description,
        "state": "a state & more",
        "iss": browser.issuer,
    }


ABSOLUTE = "The redirect_uri must be an absolute URI without a fragment or user information."
SCHEME = (
    "The redirect_uri must use http, https, or a native app's scheme with a dot, such as "
    "com.example.app."
)


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        (None, "The request needs client_id and redirect_uri."),
        ("/callback", SCHEME),
        ("javascript:alert(1)", SCHEME),
        ("data:text/html,x", SCHEME),
        ("http://localhost:5173/callback#fragment", ABSOLUTE),
        ("http://owner@localhost:5173/", ABSOLUTE),
        (r"http://evil.example.com\@localhost/", ABSOLUTE),
        ("http://localhost\n.evil.example.com/", ABSOLUTE),
        ("http://[localhost/", ABSOLUTE),
        ("http:///callback", "The redirect_uri must contain a host."),
        ("http://localhost/" + "x" * 1984, ABSOLUTE),
    ],
)
def test_an_invalid_redirect_uri_is_refused_on_a_page(
    browser: Browser, uri: str | None, reason: str
) -> None:
    page = browser.authorize(redirect_uri=uri)

    assert page.status == 400
    assert "Location" not in page.headers
    assert f'<p class="lead" role="alert">{escape(reason)}</p>' in page.text


def test_a_redirect_uri_of_2000_characters_is_accepted(browser: Browser) -> None:
    assert browser.authorize(redirect_uri="http://localhost/" + "x" * 1983).status == 200


@pytest.mark.parametrize(("length", "status"), [(2_000, 200), (2_001, 400)])
def test_a_client_id_of_more_than_2000_characters_is_refused_on_a_page(
    browser: Browser, length: int, status: int
) -> None:
    page = browser.authorize(client_id="c" * length)

    assert page.status == status
    assert ("The client_id is longer than 2000 characters." in page.text) == (status == 400)


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example.com/callback",
        "http://localhost.evil.example.com/",
        "http://8.8.8.8/",
        "http://134744072/",
        "http://0x8080808/",
        "http://ai./",
        "http://ai.:8080/",
        "http://[2001:0:53aa:64c:0:fbfe:f5f5:f7f7]/",
        "http://[64:ff9b::808:808]/",
        "http://[::ffff:8.8.8.8]/",
        "com.example.app:/callback",
    ],
)
def test_a_redirect_to_a_foreign_host_first_shows_its_name(browser: Browser, uri: str) -> None:
    browser.choose("owner")  # there is a session
    for fields in ({}, {"login_hint": "owner"}):
        page = browser.authorize(redirect_uri=uri, **fields)
        assert page.status == 200
        assert "Not an address of this machine" in page.text
    for fields in ({"prompt": "none"}, {"response_type": "token"}):
        assert browser.authorize(redirect_uri=uri, **fields).status == 400

    back = browser.choose("owner", redirect_uri=uri)
    assert back.headers["Location"].startswith(uri + "?code=")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:9",
        "[::1]:9",
        "0.0.0.0:9",
        "192.168.1.5",
        "[fd00::1]:3000",
        "app.test",
        "app.test.:9",
        "web:80",
    ],
)
def test_a_redirect_to_a_local_host_needs_no_page(browser: Browser, host: str) -> None:
    back = browser.authorize(redirect_uri=f"http://{host}/", login_hint="owner")

    assert back.headers["Location"].startswith(f"http://{host}/?code=")


def test_a_login_hint_signs_in_without_a_page(api: CheckedWorld, browser: Browser) -> None:
    for hint in ("reader", api.emulator.users["reader"]):
        tokens = browser.redeem(browser.authorize(login_hint=hint).parameters["code"]).json
        assert api.dns(token=tokens["access_token"]).status == 200
        assert api.ticket(token=tokens["access_token"]).status == 403
    assert "There is no user" in browser.authorize(login_hint="nobody").text
    assert browser.authorize(login_hint="reader", prompt="login").status == 200


def test_a_session_signs_in_again_without_a_page(api: CheckedWorld, browser: Browser) -> None:
    browser.choose("reader")
    api.advance("1h")

    second = browser.authorize(prompt="none")

    assert browser.redeem(second.parameters["code"]).status == 200
    assert "signed in before" in browser.authorize().text
    for fields in ({"max_age": "3599"}, {"login_hint": "owner"}):
        assert browser.authorize(prompt="none", **fields).parameters["error"] == "login_required"
    api.advance("7d")
    assert browser.authorize(prompt="none").parameters["error"] == "login_required"


def test_a_session_is_valid_only_in_its_own_world(api: CheckedWorld, browser: Browser) -> None:
    browser.choose("owner")
    elsewhere = Browser(api.emulator.control.world("default").summary.issuer, browser.cookie)

    assert elsewhere.authorize(prompt="none").parameters["error"] == "login_required"


def test_the_session_cookie_is_limited_to_the_identity_provider(browser: Browser) -> None:
    cookie = browser.choose("owner").headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/_emulator/worlds/" in cookie


def test_signing_out_ends_the_session(browser: Browser) -> None:
    token = browser.redeem(browser.choose("owner").parameters["code"]).json["id_token"]
    hint = f"/end-session?id_token_hint={token}"

    back = browser.send(f"{hint}&state=s&post_logout_redirect_uri=http://localhost:5173/bye")

    assert back.headers["Location"] == "http://localhost:5173/bye?state=s"
    assert browser.authorize(prompt="none").parameters["error"] == "login_required"
    foreign = browser.send("/end-session?post_logout_redirect_uri=https://evil.example.com/")
    assert (foreign.status, foreign.headers["Location"]) == (200, None)
    assert browser.send("/end-session?id_token_hint=a.b.c").status == 400
    assert browser.send("/end-session").status == 200


def test_the_key_of_id_tokens_stays_the_same_after_a_reset_and_in_a_fork(
    api: CheckedWorld, browser: Browser
) -> None:
    keys = browser.send("/jwks.json").json["keys"]
    name = api.emulator.name

    api.emulator.reset()
    after_reset = browser.send("/jwks.json").json["keys"]
    with api.emulator.fork(commit=1) as fork:
        in_fork = fork.control.get(f"worlds/{fork.name}/idp/jwks.json")["keys"]
    # An export holds no seed, so the world gets another one.
    api.emulator.import_state(api.emulator.export())
    after_import = api.emulator.control.get(f"worlds/{name}/idp/jwks.json")["keys"]

    assert after_reset == keys
    assert in_fork[1] == keys[1]
    assert after_import[1] == keys[1]
    # Each world signs its access tokens by a key of its seed and its name.
    assert in_fork[0] != keys[0]
    assert after_import[0] != keys[0]


@pytest.mark.parametrize("claims", [{"aud": "app"}, {"sid": "made-up"}, {"aud": ["app"], "sid": 1}])
def test_a_forged_id_token_hint_at_sign_out_is_refused_and_changes_nothing(
    api: CheckedWorld, browser: Browser, claims: dict[str, Any]
) -> None:
    issuer = browser.send("/.well-known/openid-configuration").json["issuer"]
    forged = sign_id_token({"iss": issuer, **claims})
    browser.choose("owner")
    before = api.state()

    response = browser.send(f"/end-session?id_token_hint={forged}&client_id=app")

    assert response.status == 400
    assert api.state() == before


def test_choosing_no_user_or_an_unknown_one_denies_access(browser: Browser) -> None:
    back = browser.send("/authorize", browser.authorize().fields() | {"choice": "nobody"})

    assert back.parameters["error"] == "access_denied"
    made_up = browser.send("/authorize", browser.authorize().fields() | {"choice": "made-up"})
    assert made_up.parameters["error"] == "access_denied"


def test_a_user_of_several_organizations_chooses_one(api: CheckedWorld, browser: Browser) -> None:
    owner = api.emulator.users["owner"]
    hobby = api.organization_id("hobby")
    api.intervene("add_member", organization="hobby", user="owner")

    page = browser.authorize()
    back = browser.send("/authorize", page.fields() | {"choice": f"{owner}/{hobby}"})
    hinted = browser.authorize(login_hint="owner", organization="hobby")

    assert page.text.count(f'value="{owner}/') == 2
    for response in (back.parameters, hinted.parameters):
        token = browser.redeem(response["code"]).json["access_token"]
        assert jwt.decode(token, options={"verify_signature": False})["org_id"] == hobby


def test_the_sign_in_page_escapes_the_fields_of_the_request(browser: Browser) -> None:
    page = browser.authorize(client_id="<b>x", state='"><script>', login_hint="<i>")

    assert "<script" not in page.text
    assert "<b>x" not in page.text
    assert page.fields()["state"] == '"><script>'


def test_the_code_can_be_returned_in_the_fragment(browser: Browser) -> None:
    back = browser.authorize(login_hint="owner", response_mode="fragment")

    assert "#code=" in back.headers["Location"]


def test_userinfo_requires_a_valid_access_token(api: CheckedWorld, browser: Browser) -> None:
    key = api.create_key().json["value"]
    for bearer in ("", "Bearer x.y.z", f"Bearer {key}"):
        refused = browser.send("/userinfo", Authorization=bearer)
        assert refused.status == 401
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")


def test_discovery_describes_the_provider(browser: Browser) -> None:
    discovery = browser.send("/.well-known/openid-configuration").json
    endpoints = {name for name in discovery if name.endswith(("_endpoint", "_uri"))}
    rest = {name: value for name, value in discovery.items() if name not in endpoints}
    del rest["claims_supported"]

    assert endpoints == {
        "jwks_uri",
        "token_endpoint",
        "authorization_endpoint",
        "userinfo_endpoint",
        "end_session_endpoint",
    }
    assert rest == {
        "issuer": browser.issuer,
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "fragment"],
        "grant_types_supported": [
            "authorization_code",
            "refresh_token",
            "password",
            "client_credentials",
        ],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_post",
            "client_secret_basic",
        ],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }


def test_discovery_names_working_endpoints(browser: Browser) -> None:
    discovery = browser.send("/.well-known/openid-configuration").json

    assert (
        browser.send(discovery["authorization_endpoint"].removeprefix(browser.issuer)).status == 400
    )
    for name in ("token", "userinfo", "end_session", "authorization"):
        assert discovery[f"{name}_endpoint"].startswith(browser.issuer)
    assert discovery["code_challenge_methods_supported"] == ["S256"]
    assert set(request_fields()["scope"].split()) == set(discovery["scopes_supported"])


# --- what outlives the process, and what is over ----------------------------------------------------


def test_a_code_that_is_redeemed_twice_revokes_its_access_token(
    api: CheckedWorld, browser: Browser
) -> None:
    """RFC 6749, section 4.1.2."""
    code = browser.choose("owner").parameters["code"]
    token = browser.redeem(code).json["access_token"]
    assert api.dns(token=token).status == 200

    browser.redeem(code)

    refused = api.dns(token=token)
    assert (refused.status, refused.json["code"]) == (401, "unauthenticated")
    assert "revoked" in refused.json["detail"]


def test_a_refresh_token_that_is_used_twice_revokes_all_tokens_of_its_grant(
    api: CheckedWorld, browser: Browser
) -> None:
    first = browser.redeem(browser.choose("owner").parameters["code"]).json
    second = browser.refresh(first["refresh_token"]).json
    other = browser.redeem(browser.choose("owner").parameters["code"]).json

    browser.refresh(first["refresh_token"])

    for token in (first["access_token"], second["access_token"]):
        assert api.dns(token=token).status == 401
    assert api.dns(token=other["access_token"]).status == 200  # it belongs to another sign-in


def test_no_two_access_tokens_are_the_same(browser: Browser) -> None:
    first = browser.redeem(browser.choose("owner").parameters["code"]).json
    second = browser.refresh(first["refresh_token"]).json

    assert first["access_token"] != second["access_token"]


def test_sign_ins_survive_an_export_and_an_import(api: CheckedWorld, browser: Browser) -> None:
    """An export contains what a restart reads, but no code or token that could be used."""
    spent, open_ = (browser.choose("owner").parameters["code"] for _ in range(2))
    first = browser.redeem(spent).json
    second = browser.refresh(first["refresh_token"]).json
    state = api.emulator.export()
    text = json.dumps(state)
    for secret in (spent, open_, first["refresh_token"], second["refresh_token"]):
        assert secret not in text

    api.emulator.import_state(state)

    assert browser.refresh(first["refresh_token"]).json["error"] == "invalid_grant"
    assert (
        browser.refresh(second["refresh_token"]).json["error"] == "invalid_grant"
    )  # ended by the reuse
    assert browser.redeem(open_).status == 200
    assert browser.redeem(open_).json["error"] == "invalid_grant"
    assert browser.choose("owner").parameters["code"] not in (spent, open_)


def sign_in_many(browser: Browser, count: int) -> None:
    """Sign in this many times, each with a refresh token."""
    page = browser.authorize(scope="offline_access")
    chosen = page.fields() | {"choice": page.choice("owner")}
    for _ in range(count):
        code = browser.send("/authorize", chosen).parameters["code"]
        assert browser.redeem(code).status == 200


def test_many_sign_ins_neither_end_a_valid_code_early_nor_restore_a_revoked_token(
    api: CheckedWorld, browser: Browser
) -> None:
    """Refreshable tokens are valid for longer than any code, so a code must not be evicted first."""
    revoked = browser.choose("owner", scope="openid").parameters["code"]
    token = browser.redeem(revoked).json["access_token"]
    assert browser.redeem(revoked).json["error"] == "invalid_grant"
    assert api.dns(token=token).status == 401
    sign_in_many(browser, 197)
    code = browser.choose("member").parameters["code"]

    sign_in_many(browser, 2)  # the 200th code evicts expired ones

    assert browser.redeem(code).status == 200
    assert api.dns(token=token).status == 401


def test_a_rewind_before_a_sign_in_ends_its_tokens(api: CheckedWorld, browser: Browser) -> None:
    commit = api.emulator.history[-1].commit
    token = browser.redeem(browser.choose("owner").parameters["code"]).json["access_token"]
    assert api.dns(token=token).status == 200

    api.emulator.rewind(commit)

    assert api.dns(token=token).status == 401


def test_a_rewind_before_a_redemption_makes_the_code_valid_again(
    api: CheckedWorld, browser: Browser
) -> None:
    code = browser.choose("owner").parameters["code"]
    commit = api.emulator.history[-1].commit
    assert browser.redeem(code).status == 200

    api.emulator.rewind(commit)

    assert browser.redeem(code).status == 200
