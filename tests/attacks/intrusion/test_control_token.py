"""The control token: demanded of whoever is not on this machine, in whatever way they come."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from typing import Any
from unittest.mock import Mock

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from hosting_emulator.bootstrap import Emulator, control_token, is_reached_from_outside
from hosting_emulator.server.guard import TOKEN_HEADER, Site
from hosting_emulator.settings import Settings, StartError
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.wire import exchange_raw, host_of

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
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent.setdefault("Host", "192.168.1.5:4620")
    return make_mocked_request(method, path.strip(), sent, transport=transport)


def status(guard: Site, asked: web.BaseRequest, path: str) -> int:
    refusal = guard.refusal(asked, path)
    return 200 if refusal is None else refusal.status


@pytest.fixture
def guard() -> Site:
    return Site(token=TOKEN)


@pytest.mark.parametrize("peer", [*ELSEWHERE, None])
def test_other_machines_need_the_token(guard: Site, peer: str | None):
    for path in CLOSED:
        assert status(guard, request(peer, path), path) == 401, path
        assert status(guard, request(peer, path, X_Control_Token=TOKEN), path) == 200, path


@pytest.mark.parametrize("path", OPEN)
def test_what_an_application_under_test_needs_is_open(guard: Site, path: str):
    assert status(guard, request("172.17.0.1", path), path) == 200
    # but not to the pages of a site that rebound its name to ours
    evil = {"Host": "evil.example.com", "Origin": "http://evil.example.com"}
    assert status(guard, request("172.17.0.1", path, **evil), path) == 403


@pytest.mark.parametrize("peer", HERE)
def test_this_machine_needs_none(guard: Site, peer: str):
    assert status(guard, request(peer, STATE, Host="localhost:4620"), STATE) == 200


@pytest.mark.parametrize("header", HANDED_ON, ids=str)
@pytest.mark.parametrize("path", CLOSED[:5])
def test_what_a_proxy_hands_on_comes_from_elsewhere(
    guard: Site, path: str, header: tuple[str, str]
):
    name, value = header
    sent = {"Host": "127.0.0.1:4620", name.replace("-", "_"): value}

    assert status(guard, request("127.0.0.1", path, **sent), path) == 401
    assert status(guard, request("127.0.0.1", path, X_Control_Token=TOKEN, **sent), path) == 200


@pytest.mark.parametrize("header", HANDED_ON, ids=str)
def test_no_header_makes_a_stranger_local(guard: Site, header: tuple[str, str]):
    sent = {"Host": "127.0.0.1:4620", header[0].replace("-", "_"): header[1]}

    assert status(guard, request("192.168.1.7", STATE, **sent), STATE) == 401


WRONG = [
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


@pytest.mark.parametrize("given", WRONG)
def test_a_wrong_token_is_refused(guard: Site, given: str):
    assert status(guard, request("10.0.0.1", STATE, X_Control_Token=given), STATE) == 401


def test_without_a_token_nobody_elsewhere_gets_in():
    guard = Site()

    for given in ("", "None", "null"):
        assert status(guard, request("10.0.0.1", STATE, X_Control_Token=given), STATE) == 401


def test_it_is_no_good_in_a_url_or_a_cookie(guard: Site):
    for asked in (
        request("10.0.0.1", f"{STATE}?control_token={TOKEN}&token={TOKEN}&X-Control-Token={TOKEN}"),
        request("10.0.0.1", STATE, Cookie=f"X-Control-Token={TOKEN}; control_token={TOKEN}"),
        request("10.0.0.1", STATE, Authorization=f"Bearer {TOKEN}"),
    ):
        assert status(guard, asked, STATE) == 401


def test_it_does_not_open_the_door_to_a_page_of_another_site(guard: Site):
    """A browser that was given the token adds it to requests of foreign pages as well."""
    for foreign in ({"Origin": "http://evil.example.com"}, {"Sec_Fetch_Site": "cross-site"}):
        asked = request("10.0.0.1", STATE, Authorization=_basic(TOKEN), **foreign)
        assert status(guard, asked, STATE) == 403


def test_it_is_compared_in_constant_time(guard: Site, monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[bytes, bytes]] = []

    def compare(given: bytes, token: bytes) -> bool:
        seen.append((given, token))
        return False

    monkeypatch.setattr("hosting_emulator.server.guard.compare_digest", compare)

    assert status(guard, request("10.0.0.1", STATE, X_Control_Token=TOKEN), STATE) == 401
    assert seen == [(TOKEN.encode(), TOKEN.encode())]


# --- In a browser -------------------------------------------------------------------------------


def _basic(password: str, user: str = "anybody") -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def test_a_browser_is_asked_for_it_and_told_where_it_is(guard: Site):
    refusal = guard.refusal(request("10.0.0.1", "/_emulator", Accept="text/html"), "/_emulator")

    assert isinstance(refusal, web.Response)
    assert refusal.status == 401
    assert refusal.headers["WWW-Authenticate"].startswith("Basic realm=")
    assert refusal.content_type == "text/html"
    assert "--control-token" in str(refusal.text)
    assert TOKEN not in str(refusal.text)


def test_a_program_is_not_asked(guard: Site):
    refusal = guard.refusal(request("10.0.0.1", STATE), STATE)

    assert isinstance(refusal, web.Response)
    assert "WWW-Authenticate" not in refusal.headers
    assert TOKEN_HEADER in str(refusal.text)


@pytest.mark.parametrize("user", ["", "anybody", "ü"])
def test_what_the_browser_then_sends_is_taken(guard: Site, user: str):
    asked = request("10.0.0.1", STATE, Authorization=_basic(TOKEN, user))

    assert status(guard, asked, STATE) == 200


@pytest.mark.parametrize("sent", ["Basic", "Basic !", "Basic /w==", "Basic " + "A" * 5000])
def test_broken_credentials_are_refused(guard: Site, sent: str):
    assert status(guard, request("10.0.0.1", STATE, Authorization=sent), STATE) == 401


# --- Settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "192.168.1.7", "10.0.0.1", "fe80::1", "127.evil.example", "box"]
)
def test_to_listen_elsewhere_makes_a_token(host: str):
    tokens = {control_token(Settings(host=host)) for _ in range(2)}

    assert len(tokens) == 2
    assert all(token and len(token) >= 32 for token in tokens)


@pytest.mark.parametrize(
    "url",
    ["https://hosting.example.com", "http://192.168.1.7:4620", "http://emulator", "http://[::]"],
)
def test_to_be_reached_from_elsewhere_makes_one_too(url: str):
    assert control_token(Settings(public_url=url)) is not None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
@pytest.mark.parametrize("url", [None, "http://localhost:8080", "http://shop.localhost"])
def test_on_this_machine_alone_there_is_none(host: str, url: str | None):
    assert control_token(Settings(host=host, public_url=url)) is None
    assert not is_reached_from_outside(url)


@pytest.mark.parametrize("token", ["", " ", "a\nb", "ü", "a\x00"])
def test_a_token_that_no_header_can_carry_is_refused_at_once(token: str):
    with pytest.raises(StartError, match="--control-token"):
        control_token(Settings(host="0.0.0.0", control_token=token))


# --- A running one --------------------------------------------------------------------------------


async def test_behind_a_proxy_everybody_needs_it():
    """A proxy on this machine makes all the world look local, and need not say so."""
    public = "https://hosting.example.com"
    emulator = Emulator(Settings(port=0, data_dir=None, public_url=public, control_token=TOKEN))
    await emulator.start()
    try:
        port = emulator._servers[0][0].sockets[0].getsockname()[1]
        await asyncio.to_thread(_ask_as_a_proxy, f"http://127.0.0.1:{port}")
    finally:
        await emulator.stop()


def _ask_as_a_proxy(url: str) -> None:
    for host in (host_of(url), "hosting.example.com", "localhost"):
        named, token = ("Host", host), (TOKEN_HEADER, TOKEN)
        assert exchange_raw(url, "GET", STATE, [named]).status == 401
        assert exchange_raw(url, "GET", STATE, [named, token]).status == 200
        assert exchange_raw(url, "GET", "/_emulator/health", [named]).status == 200
        assert exchange_raw(url, "GET", "/v1/projects/x/edge-dns", [named]).status == 401
    evil = ("Host", "evil.example.org")
    assert exchange_raw(url, "GET", "/_emulator/health", [evil]).status == 403
    assert exchange_raw(url, "GET", "/v1/projects/x/edge-dns", [evil]).status == 400


def test_a_header_of_odd_bytes_is_a_refusal_and_no_failure(server: BackgroundEmulator):
    headers: list[tuple[str, Any]] = [
        ("Host", host_of(server.base_url)),
        ("X-Forwarded-For", "\xff"),
        (TOKEN_HEADER, "\xff\xfe"),
        ("Authorization", "Basic \xff"),
    ]

    answer = exchange_raw(server.base_url, "GET", STATE, headers)

    assert answer.status == 401
    assert json.loads(answer.body)["status"] == 401
