"""`open` opens the page of the emulator, or prints its address. No test opens a browser."""

import json
import re
import webbrowser

import pytest

from tests.cli.conftest import Run
from tests.support.control_samples import world
from tests.support.fake_control import FakeControl


@pytest.fixture
def opened_urls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the addresses that a browser would open."""
    urls: list[str] = []

    def record(url: str) -> bool:
        urls.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", record)
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    return urls


def test_the_page_opens_in_a_browser(
    ask: Run, control: FakeControl, opened_urls: list[str], monkeypatch: pytest.MonkeyPatch
):
    control.on("GET /worlds/default", world())
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")

    result = ask("open")

    assert opened_urls == [f"{control.url}/_emulator/"]
    assert (result.stdout, result.stderr) == (f"{control.url}/_emulator/\n", "")


def test_without_a_screen_the_address_is_only_printed(
    ask: Run, control: FakeControl, opened_urls: list[str]
):
    control.on("GET /worlds/default", world())

    result = ask("open")

    assert (result.exit_code, opened_urls) == (0, [])
    assert result.stdout == f"{control.url}/_emulator/\n"
    assert "Open the address yourself." in result.stderr


def test_the_page_shows_the_world_that_the_option_names(
    ask: Run, control: FakeControl, opened_urls: list[str], monkeypatch: pytest.MonkeyPatch
):
    control.on("GET /worlds/checkout", world("checkout"))
    monkeypatch.setenv("BROWSER", "firefox")

    document = json.loads(ask("open", "--world", "checkout", "--json").stdout)

    assert document == {"url": opened_urls[0], "opened": True}
    assert opened_urls[0].endswith("/_emulator/#/requests?world=checkout")


def test_the_page_of_an_emulator_that_does_not_run_is_an_error(run: Run, opened_urls: list[str]):
    result = run("open", "--url", "http://127.0.0.1:1")

    assert (result.exit_code, result.stdout, opened_urls) == (2, "", [])
    assert "no emulator responds at http://127.0.0.1:1" in result.stderr
    assert re.search("; (running now: http|no emulator of this user is running)", result.stderr)
