"""A hostile page in a real browser: on another site, with an opaque origin, and under a rebound name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from pytest_hosting_emulator import BackgroundEmulator
from tests.browser.chromium import Chromium, needed_program
from tests.support.wire import host_of

Check = Callable[[], None]
ATTACK = Path(__file__).with_name("attack.js").read_text(encoding="utf-8")
#: The name of the hostile site. Like a rebound name, it resolves to this machine.
EVIL = "evil.example.com"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    rules = f"MAP {EVIL} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
    names = f"--host-resolver-rules={rules}"
    with Chromium(needed_program(), tmp_path_factory.mktemp("chromium"), names) as browser:
        yield browser


class _EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Win a prize</title><body>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def hostile_port() -> Iterator[int]:
    """The port of a site that does not belong to the emulator."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _EmptyPage) as site:
        thread = Thread(target=site.serve_forever)
        thread.start()
        yield site.server_address[1]
        site.shutdown()
        thread.join()


def attack(
    chromium: Chromium, page: str, target: str, server: BackgroundEmulator, token: str = ""
) -> Any:
    token = token or server.control.world().mint_token("owner").access_token
    options = {"target": target, "token": token, "project": server.ready.project_id}
    return chromium.run(page, f"{ATTACK}({json.dumps(options)})")


@pytest.mark.parametrize(
    "name", ["127.0.0.1", pytest.param("localhost", marks=pytest.mark.torture), EVIL]
)
def test_a_page_of_another_site_can_do_nothing(
    chromium: Chromium,
    server: BackgroundEmulator,
    unchanged: Check,
    hostile_port: int,
    name: str,
):
    target = f"http://{name}:{host_of(server.base_url).partition(':')[2]}"

    outcomes = attack(chromium, f"http://{EVIL}:{hostile_port}/", target, server)

    assert len(outcomes) > 20
    assert {
        attack_name: outcome
        for attack_name, outcome in outcomes.items()
        if not _is_blocked(outcome)
    } == {}
    unchanged()


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("127.0.0.1", "localhost"),
        pytest.param("localhost", "127.0.0.1", marks=pytest.mark.torture),
        pytest.param("127.0.0.1", "127.0.0.1", marks=pytest.mark.torture),
        ("localhost", "localhost"),
    ],
)
def test_a_page_of_another_port_has_only_the_access_of_a_local_web_app(
    chromium: Chromium,
    server: BackgroundEmulator,
    unchanged: Check,
    hostile_port: int,
    name: str,
    site: str,
):
    """The page reads the provider's public keys and calls `/v1` with a token, but it cannot get a token."""
    target = f"http://{name}:{host_of(server.base_url).partition(':')[2]}"

    outcomes = attack(chromium, f"http://{site}:{hostile_port}/", target, server, token="none")

    may = {"read the keys": 200, "sign in": 400}
    may |= dict.fromkeys(("call with a token", "change with a token"), 401)
    for attack_name, status in may.items():
        assert outcomes.pop(attack_name)["status"] == status, attack_name
    assert {
        attack_name: outcome
        for attack_name, outcome in outcomes.items()
        if not _is_blocked(outcome)
    } == {}
    unchanged()


def test_a_page_with_an_opaque_origin_can_do_nothing(
    chromium: Chromium, server: BackgroundEmulator, unchanged: Check
):
    """A sandboxed frame and a data URL send the Origin `null`."""
    outcomes = attack(chromium, "data:text/html,<body>", server.base_url, server)

    assert {
        attack_name: outcome
        for attack_name, outcome in outcomes.items()
        if not _is_blocked(outcome)
    } == {}
    unchanged()


def test_a_page_behind_a_rebound_name_can_do_nothing(
    chromium: Chromium, server: BackgroundEmulator, unchanged: Check
):
    """Page and emulator have the same origin, so the page can read responses, but all are refusals."""
    rebound = f"http://{EVIL}:{host_of(server.base_url).partition(':')[2]}"

    outcomes = attack(chromium, f"{rebound}/", rebound, server)

    for attack_name, outcome in outcomes.items():
        if isinstance(outcome, dict):
            assert outcome["status"] in (400, 403, 405), f"{attack_name}: {outcome}"
            assert "--allow-host" in outcome["text"] or outcome["status"] == 405, (
                f"{attack_name}: {outcome}"
            )
        else:
            assert outcome in ("blocked", "opaque") or "--allow-host" in outcome, (
                f"{attack_name}: {outcome}"
            )
    assert outcomes["change with a token"]["status"] == 400
    unchanged()


def test_a_page_of_the_emulator_itself_can_read_the_control_api(
    chromium: Chromium, server: BackgroundEmulator
):
    """A page that the guard accepts succeeds, so the attacks above fail because of the guard."""
    script = f"fetch({json.dumps(server.base_url + '/_emulator/info')}).then(found => found.status)"

    assert chromium.run(f"{server.base_url}/v1/nothing", script) == 200


def _is_blocked(outcome: object) -> bool:
    return outcome in ("blocked", "opaque")
