"""The pages of the identity provider as a whole: what a user reads, and with which headers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.sign_in_client import CALLBACK, Browser, Page, request_fields

POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
)
SIGN_IN_PAGE = """\
<h1>Who is signing in?</h1>
<p class="lead"><b>web-app</b> wants you to sign in. Choose a user of the world
<b>{world}</b>. No password is needed.</p>

<form method="post">
<input type="hidden" name="response_type" value="code">
<input type="hidden" name="client_id" value="web-app">
<input type="hidden" name="redirect_uri" value="http://localhost:5173/callback?kept=1">
<input type="hidden" name="scope" value="openid profile email offline_access">
<input type="hidden" name="state" value="a state &amp; more">
<input type="hidden" name="nonce" value="n-1">
<input type="hidden" name="code_challenge" value="mg3QoZgnRJxQy_jYdfW7D8wJkoziCuM8Yhos7PwVvsI">
<input type="hidden" name="code_challenge_method" value="S256">
<ul class="users">
<li><button name="choice" value="{owner}/{acme}">
<b>Olive Marsh</b><span><code>owner</code> Acme Studio (acme, paid)</span></button></li>
<li><button name="choice" value="{member}/{acme}">
<b>Max Berger</b><span><code>member</code> Acme Studio (acme, paid)</span></button></li>
<li><button name="choice" value="{reader}/{acme}">
<b>Rita Lang</b><span><code>reader</code> Acme Studio (acme, paid)</span></button></li>
<li><button name="choice" value="{outsider}/{hobby}">
<b>Oscar Green</b><span><code>outsider</code> Hobby Garden (hobby, free)</span></button></li>
<li><button name="choice" value="{no_organization}">
<b>Nora Quist</b><span><code>no-organization</code> no organization</span></button></li>
</ul>
<p><button class="nobody" name="choice" value="nobody">Cancel</button></p>
</form>
<h2>What will happen</h2>
<p>The browser returns to <code>http://localhost:5173</code> with a code, which the client exchanges
for tokens for the chosen user. The client can then call the API as this user, and receives:</p>
<ul><li>who you are</li><li>your name</li><li>your e-mail address</li><li>staying signed in</li></ul>
"""
#: The page for a foreign client without scopes, in a browser that is signed in as a user of two
#: organizations.
WARNINGS = """\
<p class="warning" role="alert"><b>Not an address of this machine.</b> If you continue,
<code>https://app.example.com</code> receives the sign-in. Choose a user only if you trust this address.</p>
<p class="warning">There is no user <code>{hint}</code> in this world.</p>

<form"""
TWO_ORGANIZATIONS = """\
<li><p>Olive Marsh <span class="mark retry">signed in before</span>, for:</p>\
<button name="choice" value="{owner}/{acme}">
<b>Olive Marsh · acme</b><span><code>owner</code> Acme Studio (acme, paid)</span></button>\
<button name="choice" value="{owner}/{hobby}">
<b>Olive Marsh · hobby</b><span><code>owner</code> Hobby Garden (hobby, free)</span></button></li>
"""
SIGNED_OUT_PAGE = """\
<h1>Signed out</h1>
<p class="lead">The session has ended, and its refresh tokens are no longer valid. Access tokens remain valid
until they expire, except for calls that need a current session.</p>
<p>The application asks you to continue to
<a href="https://app.example.com/?state=s" rel="noreferrer">https://app.example.com/?state=s</a>.</p>
"""
REFUSED_PAGE = """\
<h1>The request was refused</h1>
<p class="lead" role="alert">{reason}</p>
<p>The application that sent you here must change its request. Refused requests are redirected only to valid
addresses on this machine.</p>
"""
FOOT = """\
<footer class="quiet small"><p>This is the hosting emulator's own identity provider, not the real service. \
Its users
are fictional.</p></footer>
</body>
</html>
"""


@pytest.fixture
def browser(api: CheckedWorld) -> Browser:
    """A browser without a session, at the world's identity provider."""
    return Browser(api.emulator.summary.issuer)


def names(api: CheckedWorld) -> dict[str, str]:
    """Return the ids of users and organizations by alias, and the name of the world."""
    users = {alias.replace("-", "_"): user for alias, user in api.emulator.users.items()}
    return {**users, **api.emulator.organizations, "world": api.emulator.name}


def title(page: Page) -> str:
    return page.text.partition("<title>")[2].partition("</title>")[0]


def main(page: Page) -> str:
    """Return the content of a page without its head and foot."""
    content, _, foot = page.text.partition('<main id="main">\n')[2].partition("</main>\n")
    assert foot == FOOT
    return content


def policies(page: Page) -> dict[str, str | None]:
    """Return the headers of a page that restrict what a browser does with it."""
    wanted = ("Cache-Control", "Content-Security-Policy", "Referrer-Policy")
    return {name: page.header(name) for name in (*wanted, "Cross-Origin-Opener-Policy")}


def test_the_sign_in_page_shows_all_users_and_what_the_client_receives(
    api: CheckedWorld, browser: Browser
) -> None:
    page = browser.authorize()

    assert main(page) == SIGN_IN_PAGE.format(**names(api))
    assert title(page) == "Sign in - hosting-emulator"
    assert policies(page) == {
        "Cache-Control": "no-store",
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "unsafe-none",
    }


def test_the_sign_in_page_warns_of_a_foreign_client_and_shows_who_is_signed_in(
    api: CheckedWorld, browser: Browser
) -> None:
    browser.choose("owner")
    api.intervene("add_member", organization="hobby", user="owner")

    page = browser.authorize(
        redirect_uri="https://app.example.com/", login_hint="h" * 81, client_id="c" * 81, scope=None
    )

    assert WARNINGS.format(hint="h" * 80) in page.text
    assert f'<p class="lead"><b>{"c" * 80}</b> wants' in page.text
    assert TWO_ORGANIZATIONS.format(**names(api)) in page.text
    assert page.text.count("signed in before") == 1
    assert "The client can then call the API as this user.</p>\n\n</main>" in page.text


def test_the_page_after_a_sign_out_links_to_the_foreign_client(browser: Browser) -> None:
    query = urlencode({"post_logout_redirect_uri": "https://app.example.com/", "state": "s"})

    page = browser.send(f"/end-session?{query}")

    assert (page.status, title(page)) == (200, "Signed out - hosting-emulator")
    assert main(page) == SIGNED_OUT_PAGE
    assert policies(page) == {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


def test_the_page_of_a_refused_sign_out_gives_the_reason(browser: Browser) -> None:
    hint = browser.redeem(browser.choose("owner").parameters["code"]).json["id_token"]

    foreign = browser.send("/end-session?id_token_hint=a.b.c")
    other_client = browser.send(f"/end-session?id_token_hint={hint}&client_id=other")

    reason = "The id_token_hint is not an ID token of this world."
    assert main(foreign) == REFUSED_PAGE.format(reason=reason)
    reason = "The id_token_hint was issued to another client_id."
    assert main(other_client) == REFUSED_PAGE.format(reason=reason)
    assert (foreign.status, title(foreign)) == (400, "Sign-out refused - hosting-emulator")
    assert browser.authorize(prompt="none").status == 303  # the session goes on


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("client_id=a&client_id=b", "The parameter client_id was sent more than once."),
        (
            "&".join(f"p{number}=1" for number in range(101)),
            "The request has more than 100 parameters.",
        ),
        (
            "&".join(f"p{number}=1" for number in range(100)),
            "The request needs client_id and redirect_uri.",
        ),
        (
            urlencode(request_fields() | {"redirect_uri": "com.example.app:/", "prompt": "none"}),
            "the client&#x27;s address is not local.",
        ),
    ],
    ids=["repeated", "too many", "missing", "not local"],
)
def test_the_page_of_a_refused_sign_in_gives_the_reason(
    browser: Browser, query: str, reason: str
) -> None:
    page = browser.send(f"/authorize?{query}")

    assert (page.status, title(page)) == (400, "Sign-in refused - hosting-emulator")
    assert main(page) == REFUSED_PAGE.format(reason=reason)


def test_a_cancelled_sign_in_is_reported_even_to_a_foreign_client(browser: Browser) -> None:
    page = browser.authorize(redirect_uri="https://app.example.com/")

    back = browser.send("/authorize", page.fields() | {"choice": "nobody"})

    assert str(back.header("Location")).startswith("https://app.example.com/?error=access_denied")
    assert back.parameters["error_description"] == "no user was chosen"


def test_a_session_older_than_max_age_needs_a_new_sign_in(
    api: CheckedWorld, browser: Browser
) -> None:
    browser.choose("owner")
    api.advance("10s")

    young = browser.authorize(prompt="none", max_age="10")
    old = browser.authorize(prompt="none", max_age="9")

    assert "code" in young.parameters
    assert old.parameters["error"] == "login_required"
    assert old.parameters["error_description"] == "the session is older than max_age"


GRANTS = "authorization_code, refresh_token, password, client_credentials"
CODE = {
    "grant_type": "authorization_code",
    "code": "c",
    "client_id": "web-app",
    "redirect_uri": CALLBACK,
    "code_verifier": "v",
}


@pytest.mark.parametrize(
    ("form", "error", "description"),
    [
        ({"grant_type": "magic"}, "unsupported_grant_type", f"grant_type must be one of {GRANTS}"),
        (
            {"grant_type": "client_credentials", "client_id": "reader", "organization": "hobby"},
            "invalid_grant",
            "the user does not belong to hobby",
        ),
        *[
            (
                {name: value for name, value in CODE.items() if name != missing},
                "invalid_request",
                f"{missing} is missing",
            )
            for missing in ("code", "client_id", "redirect_uri", "code_verifier")
        ],
        (
            {"grant_type": "refresh_token", "client_id": "web-app"},
            "invalid_request",
            "refresh_token is missing",
        ),
    ],
)
def test_the_token_endpoint_says_why_it_refuses_a_request(
    browser: Browser, form: dict[str, str], error: str, description: str
) -> None:
    refused = browser.send("/token", form)

    assert refused.status == 400
    assert refused.json == {"error": error, "error_description": description}


def test_a_refresh_for_a_removed_member_says_so(api: CheckedWorld, browser: Browser) -> None:
    tokens = browser.redeem(browser.choose("member").parameters["code"]).json
    api.intervene("remove_member", organization="acme", user="member")

    refused = browser.refresh(tokens["refresh_token"])

    assert refused.json == {
        "error": "invalid_grant",
        "error_description": "the user no longer belongs to the organization",
    }


def test_userinfo_without_a_token_challenges_without_an_error(
    api: CheckedWorld, browser: Browser
) -> None:
    """RFC 6750, section 3.1: a request without credentials gets no error code."""
    key = api.create_key().json["value"]

    anonymous = browser.send("/userinfo")
    with_key = browser.send("/userinfo", Authorization=f"Bearer {key}")

    assert (anonymous.status, anonymous.header("WWW-Authenticate")) == (401, "Bearer")
    assert anonymous.json["error"] == "invalid_request"
    assert with_key.json == {
        "error": "invalid_token",
        "error_description": "A user's access token is required.",
    }
    assert with_key.header("WWW-Authenticate") == (
        'Bearer error="invalid_token", error_description="A user\'s access token is required."'
    )


@pytest.mark.parametrize(
    ("condition", "is_hit"),
    [
        ({"query": {"client_id": "web-app"}}, True),
        ({"query": {"client_id": "other"}}, False),
        ({"header": {"Host": "*"}}, True),
        ({"header": {"X-Other": "*"}}, False),
        ({"connection": "new"}, True),
        ({"connection": "reused"}, False),
        ({"method": "GET"}, True),
        ({"method": "POST"}, False),
        ({"path": "*/authorize"}, True),
        ({"path": "*/token"}, False),
    ],
)
def test_a_fault_at_the_provider_acts_on_the_requests_that_it_describes(
    api: CheckedWorld, browser: Browser, condition: dict[str, Any], is_hit: bool
) -> None:
    with api.emulator.fault("latency", delay_ms=1, call="idp_authorize", **condition) as fault:
        browser.authorize()

        assert fault.hits == is_hit
