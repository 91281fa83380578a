"""The control token: when an emulator requires one, and how a running emulator checks it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_hosting_emulator import BackgroundEmulator
from tests.support.control_tokens import control_token_for, is_reachable_from_outside
from tests.support.emulator_in_loop import emulator_in_loop, refusal_of_settings
from tests.support.wire import exchange_raw, host_of

TOKEN = "only-here-0123456789"
TOKEN_HEADER = "X-Control-Token"
STATE = "/_emulator/worlds/default/state"


# --- Settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "192.168.1.7", "10.0.0.1", "fe80::1", "127.evil.example", "box"]
)
def test_an_emulator_that_listens_beyond_this_machine_has_a_new_token_each_time(host: str):
    tokens = {control_token_for(host=host) for _ in range(2)}

    assert len(tokens) == 2
    assert all(token and len(token) >= 32 for token in tokens)


@pytest.mark.parametrize(
    "url",
    ["https://hosting.example.com", "http://192.168.1.7:4620", "http://emulator", "http://[::]"],
)
def test_a_public_url_on_another_machine_makes_a_token(url: str):
    assert control_token_for(public_url=url) is not None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
@pytest.mark.parametrize("url", [None, "http://localhost:8080", "http://shop.localhost"])
def test_an_emulator_on_this_machine_alone_has_no_token(host: str, url: str | None):
    assert control_token_for(host=host, public_url=url) is None
    assert not is_reachable_from_outside(url)


@pytest.mark.parametrize("token", ["", " ", "a\nb", "ü", "a\x00"])
def test_a_token_that_no_header_can_carry_is_refused_before_the_start(token: str):
    assert "--control-token" in refusal_of_settings(host="0.0.0.0", control_token=token)


# --- A running one --------------------------------------------------------------------------------


async def test_every_request_through_a_proxy_needs_the_token():
    """A proxy on this machine makes every request look local, and it may add no forwarding header."""
    async with emulator_in_loop(
        public_url="https://hosting.example.com", control_token=TOKEN
    ) as emulator:
        local_url = emulator.ready().local_url
        await asyncio.to_thread(_check_access_through_a_proxy, local_url)


def _check_access_through_a_proxy(url: str) -> None:
    for host in (host_of(url), "hosting.example.com", "localhost"):
        host_header = ("Host", host)
        token_header = (TOKEN_HEADER, TOKEN)
        assert exchange_raw(url, "GET", STATE, [host_header]).status == 401
        assert exchange_raw(url, "GET", STATE, [host_header, token_header]).status == 200
        assert exchange_raw(url, "GET", "/_emulator/health", [host_header]).status == 200
        assert exchange_raw(url, "GET", "/v1/projects/x/edge-dns", [host_header]).status == 401
    evil = ("Host", "evil.example.org")
    assert exchange_raw(url, "GET", "/_emulator/health", [evil]).status == 403
    assert exchange_raw(url, "GET", "/v1/projects/x/edge-dns", [evil]).status == 400


def test_headers_with_odd_bytes_are_refused_without_a_failure(server: BackgroundEmulator):
    headers: list[tuple[str, Any]] = [
        ("Host", host_of(server.base_url)),
        ("X-Forwarded-For", "\xff"),
        (TOKEN_HEADER, "\xff\xfe"),
        ("Authorization", "Basic \xff"),
    ]

    response = exchange_raw(server.base_url, "GET", STATE, headers)

    assert response.status == 401
    assert response.json["status"] == 401
