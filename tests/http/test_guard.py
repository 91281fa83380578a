"""The guard of the control API: which clients must send the control token, and in which forms."""

from __future__ import annotations

import json
from base64 import b64encode
from unittest.mock import Mock

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from hosting_emulator.http import guard as guard_module
from hosting_emulator.http.guard import TOKEN_HEADER, Site

TOKEN = "only-here-0123456789"
STATE = "/_emulator/worlds/default/state"
OPEN = (
    "/_emulator/health",
    "/_emulator/docs",
    "/_emulator/docs/errors/forbidden",
    "/_emulator/contract/openapi.json",
    "/_emulator/static/sign-in.css",
    "/_emulator/idp/jwks.json",
    "/_emulator/idp/authorize",
    "/_emulator/worlds/ci-1/idp/token",
)
CLOSED = (
    "/_emulator",
    "/_emulator/",
    "/_emulator/info",
    "/_emulator/worlds",
    "/_emulator/worlds/default/tokens",
    "/_emulator/worlds/default/requests/1",
    "/_emulator/worlds/idp/state",
    "/_emulator/healthy",
    "/_emulator/health\n",
    "/_emulator/worlds/a/b/idp/token",
    STATE,
)
ELSEWHERE = ["192.168.1.7", "172.17.0.1", "10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1", "0.0.0.0"]
HERE = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]
HANDED_ON = [
    ("X-Forwarded-For", "203.0.113.9"),
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Forwarded-Host", "hosting.example.com"),
    ("X-Real-IP", "127.0.0.1"),
    ("Forwarded", "for=127.0.0.1;host=localhost"),
    ("Via", "1.1 proxy"),
]


def request(peer: str | None, path: str, method: str = "GET", **headers: str) -> web.BaseRequest:
    """Return a request that came from an address (None: from a socket without one)."""
    transport = Mock()
    transport.get_extra_info = lambda name, default=None: (
        (peer, 50_000) if name == "peername" and peer else default
    )
    request_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request_headers.setdefault("Host", "192.168.1.5:4620")
    return make_mocked_request(method, path.strip(), request_headers, transport=transport)


def status(guard: Site, request: web.BaseRequest, path: str) -> int:
    refusal = guard.control_refusal(request, path)
    return 200 if refusal is None else refusal.status


@pytest.fixture
def guard() -> Site:
    return Site(token=TOKEN)


@pytest.mark.parametrize("peer", [*ELSEWHERE, None])
def test_requests_from_other_machines_need_the_token(guard: Site, peer: str | None):
    for path in CLOSED:
        assert status(guard, request(peer, path), path) == 401, path
        assert status(guard, request(peer, path, X_Control_Token=TOKEN), path) == 200, path


@pytest.mark.parametrize("path", OPEN)
def test_paths_that_an_application_under_test_needs_are_open(guard: Site, path: str):
    assert status(guard, request("172.17.0.1", path), path) == 200
    # but not to the pages of a site that rebound its name to ours
    evil = {"Host": "evil.example.com", "Origin": "http://evil.example.com"}
    assert status(guard, request("172.17.0.1", path, **evil), path) == 403


@pytest.mark.parametrize("peer", HERE)
def test_requests_from_this_machine_need_no_token(guard: Site, peer: str):
    assert status(guard, request(peer, STATE, Host="localhost:4620"), STATE) == 200


@pytest.mark.parametrize("header", HANDED_ON, ids=str)
@pytest.mark.parametrize("path", CLOSED[:5])
def test_a_request_that_a_proxy_forwards_needs_the_token(
    guard: Site, path: str, header: tuple[str, str]
):
    name, value = header
    proxied = {"Host": "127.0.0.1:4620", name.replace("-", "_"): value}

    assert status(guard, request("127.0.0.1", path, **proxied), path) == 401
    assert status(guard, request("127.0.0.1", path, X_Control_Token=TOKEN, **proxied), path) == 200


@pytest.mark.parametrize("header", HANDED_ON, ids=str)
def test_no_header_lets_another_machine_pass_as_local(guard: Site, header: tuple[str, str]):
    proxied = {"Host": "127.0.0.1:4620", header[0].replace("-", "_"): header[1]}

    assert status(guard, request("192.168.1.7", STATE, **proxied), STATE) == 401


WRONG_TOKENS = [
    "",
    " ",
    TOKEN[:-1],
    TOKEN + "0",
    TOKEN.upper(),
    f" {TOKEN}x",
    "ü",
    "null",
    f"Bearer {TOKEN}",
]


@pytest.mark.parametrize("token", WRONG_TOKENS)
def test_a_wrong_token_is_refused(guard: Site, token: str):
    assert status(guard, request("10.0.0.1", STATE, X_Control_Token=token), STATE) == 401


def test_other_machines_are_refused_where_no_token_exists():
    guard = Site()

    for token in ("", "None", "null"):
        assert status(guard, request("10.0.0.1", STATE, X_Control_Token=token), STATE) == 401


def test_a_token_in_a_url_a_cookie_or_as_bearer_is_refused(guard: Site):
    for forged_request in (
        request("10.0.0.1", f"{STATE}?control_token={TOKEN}&token={TOKEN}&X-Control-Token={TOKEN}"),
        request("10.0.0.1", STATE, Cookie=f"X-Control-Token={TOKEN}; control_token={TOKEN}"),
        request("10.0.0.1", STATE, Authorization=f"Bearer {TOKEN}"),
    ):
        assert status(guard, forged_request, STATE) == 401


def test_the_token_does_not_admit_a_page_of_another_site(guard: Site):
    """A browser that knows the token also sends it with requests of foreign pages."""
    for foreign in ({"Origin": "http://evil.example.com"}, {"Sec_Fetch_Site": "cross-site"}):
        forged_request = request("10.0.0.1", STATE, Authorization=_basic(TOKEN), **foreign)
        assert status(guard, forged_request, STATE) == 403


def test_the_token_is_compared_in_constant_time(guard: Site, monkeypatch: pytest.MonkeyPatch):
    comparisons: list[tuple[bytes, bytes]] = []

    def compare(sent_token: bytes, token: bytes) -> bool:
        comparisons.append((sent_token, token))
        return False

    monkeypatch.setattr(guard_module, "compare_digest", compare)

    assert status(guard, request("10.0.0.1", STATE, X_Control_Token=TOKEN), STATE) == 401
    assert comparisons == [(TOKEN.encode(), TOKEN.encode())]


EVIL = "http://evil.example.com"
TOKEN_NEEDED = (
    "Control requests from another machine, or through a proxy, require the X-Control-Token header. "
    "Use the token that `start` prints. If it prints none, restart the emulator with "
    "`--control-token TEXT`."
)
OTHER_SITES = "pages from other sites must not use the control API"


@pytest.mark.parametrize(
    ("path", "headers", "title", "detail"),
    [
        (STATE, {}, "Control token required", TOKEN_NEEDED),
        (STATE, {"Origin": EVIL}, "Refused by the control API's guard", OTHER_SITES),
        (
            "/_emulator/idp/token",
            {"Origin": EVIL},
            "Refused by the control API's guard",
            f"Requests from pages on the origin {EVIL!r} are not allowed. To allow them, use "
            "`start --allow-origin`.",
        ),
        (
            "/_emulator/idp/token",
            {"Sec_Fetch_Site": "cross-site"},
            "Refused by the control API's guard",
            OTHER_SITES,
        ),
        (
            STATE,
            {"Host": "e" * 81 + ".com"},
            "Refused by the control API's guard",
            f"the Host {'e' * 80!r} does not belong to this emulator; allow it with --allow-host",
        ),
    ],
)
def test_a_refusal_of_the_guard_says_what_to_do(
    guard: Site, path: str, headers: dict[str, str], title: str, detail: str
):
    refusal = guard.control_refusal(request("10.0.0.1", path, **headers), path)

    assert refusal is not None
    assert refusal.content_type == "application/problem+json"
    problem = json.loads(str(refusal.text))
    assert (problem["title"], problem["detail"]) == (title, detail)
    assert problem["documentation"] == "/_emulator/docs/control-api"
    assert refusal.headers["Link"] == '</_emulator/openapi.json>; rel="service-desc"'
    assert refusal.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("hosts", "is_refused"),
    [
        ([], False),
        (["localhost:4620"], False),
        (["hosting"], False),
        (["app.home.arpa"], False),
        (["8.8.8.8"], False),
        (["[2001:db8::1]:80"], False),
        (["evil.example.com"], True),
        (["localhost", "localhost"], True),
        (["local host"], True),
    ],
)
def test_a_host_that_anybody_can_register_is_refused(
    guard: Site, hosts: list[str], is_refused: bool
):
    refusal = guard.host_refusal(hosts)

    assert (refusal is not None) == is_refused
    if refusal is not None:
        assert (refusal.code, refusal.detail) == (
            "invalid_request",
            f"The Host {', '.join(hosts)!r} does not belong to this emulator; "
            "`start --allow-host` allows it.",
        )
        assert refusal.why == (
            "a page on another website could send requests with this Host (DNS rebinding)"
        )
        assert refusal.action == (
            "Start the emulator with --allow-host and this name, or use one of the emulator's own names."
        )


@pytest.mark.parametrize(
    ("url", "local_url"),
    [
        ("http://0.0.0.0:4620", "http://127.0.0.1:4620"),
        ("http://[::]:4620", "http://[::1]:4620"),
        ("http://10.0.0.1:4620", "http://10.0.0.1:4620"),
    ],
)
def test_a_server_on_all_addresses_is_reached_through_the_loopback_address(
    url: str, local_url: str
):
    assert Site(url=url).local_url == local_url
    assert Site(url=url).own_url == local_url
    assert Site(url=url, public_url="https://hosting.example.com").own_url == (
        "https://hosting.example.com"
    )


# --- In a browser -------------------------------------------------------------------------------


def _basic(password: str, user: str = "anybody") -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def test_a_browser_is_asked_for_the_token_and_reads_where_to_find_it(guard: Site):
    refusal = guard.control_refusal(
        request("10.0.0.1", "/_emulator", Accept="text/html"), "/_emulator"
    )

    assert isinstance(refusal, web.Response)
    assert refusal.status == 401
    assert refusal.headers["WWW-Authenticate"] == (
        'Basic realm="hosting-emulator: the password is the control token", charset="UTF-8"'
    )
    assert refusal.content_type == "text/html"
    assert "--control-token" in str(refusal.text)
    assert TOKEN not in str(refusal.text)


def test_a_program_gets_no_authentication_challenge(guard: Site):
    refusal = guard.control_refusal(request("10.0.0.1", STATE), STATE)

    assert isinstance(refusal, web.Response)
    assert "WWW-Authenticate" not in refusal.headers
    assert TOKEN_HEADER in str(refusal.text)


@pytest.mark.parametrize("user", ["", "anybody", "ü"])
def test_basic_credentials_with_the_token_are_accepted(guard: Site, user: str):
    signed_request = request("10.0.0.1", STATE, Authorization=_basic(TOKEN, user))

    assert status(guard, signed_request, STATE) == 200


@pytest.mark.parametrize("credentials", ["Basic", "Basic !", "Basic /w==", "Basic " + "A" * 5000])
def test_broken_credentials_are_refused(guard: Site, credentials: str):
    assert status(guard, request("10.0.0.1", STATE, Authorization=credentials), STATE) == 401


def test_only_the_latest_safe_hosts_are_remembered(guard: Site, monkeypatch: pytest.MonkeyPatch):
    """A client could otherwise fill the memory with Host headers."""
    monkeypatch.setattr(guard_module, "_MOST_SAFE_HOSTS", 2)

    for number in range(5):
        assert guard.is_safe_host(f"app-{number}.localhost")
        assert len(guard.safe_hosts) <= 2

    assert guard.is_safe_host("app-0.localhost")
    assert not guard.is_safe_host("evil.example.com")
