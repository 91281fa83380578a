"""A web app on another port signs its user in with the emulator and calls `/v1`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import pytest

from tests.browser import axe
from tests.browser.chromium import Chromium
from tests.browser.page import Page
from tests.support.http_world import HttpWorld
from tests.support.sign_in_client import request_fields

APP = Path(__file__).with_name("web_app.html").read_bytes()
Address = Callable[..., str]


class _App(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(APP)

    def log_message(self, *_: object) -> None:
        pass


def read(page: Page, words: str) -> None:
    """Wait until a text is shown, on whichever page is open by then."""
    page.wait(f"document.body?.innerText.includes({words!r})")


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    """The address of the web app, on another port of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _App) as site:
        thread = Thread(target=site.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{site.server_address[1]}/"
        site.shutdown()
        thread.join()


@pytest.fixture
def issuer(api: HttpWorld) -> str:
    url: str = api.emulator.summary.issuer
    return url


@pytest.fixture
def app_url(app: str, api: HttpWorld, issuer: str) -> str:
    """The address of the web app with the emulator and project to use."""
    fields = {"issuer": issuer, "project": api.emulator.base_url + api.project_path("")[:-1]}
    return f"{app}?{urlencode(fields)}"


@pytest.fixture
def sign_in_url(issuer: str) -> Address:
    """The sign-in page of the provider, as a client links to it."""

    def address(**fields: str) -> str:
        return f"{issuer}/authorize?{urlencode(request_fields() | fields)}"

    return address


def test_a_web_app_signs_in_and_hides_the_flag(chromium: Chromium, api: HttpWorld, app_url: str):
    with chromium.page(app_url) as page:
        page.click("button", "Sign in")
        read(page, "Who is signing in?")
        page.click("button", "Olive Marsh")
        read(page, "Signed in as Olive Marsh")
        page.click("button", "Hide the flag")
        read(page, "The flag is hidden (")
        page.watch()
        assert page.visit.complaints == []

    assert api.set_flag(False).status == 200
    projects = api.emulator.export()["tables"]["projects"]
    assert not projects[api.emulator.projects["shop"]].get("flag_enabled")


def test_a_reader_who_signs_in_with_the_keyboard_may_not_hide_the_flag(
    chromium: Chromium, app_url: str
):
    with chromium.page(app_url) as page:
        page.tab_to("button", "Sign in")
        page.press("Enter")
        read(page, "Who is signing in?")
        page.tab_to("button", "Rita Lang")
        page.press("Enter")
        read(page, "Signed in as Rita Lang")
        page.click("button", "Hide the flag")
        read(page, "forbidden")


def test_a_user_who_cancels_the_sign_in_returns_signed_out(chromium: Chromium, app_url: str):
    with chromium.page(app_url) as page:
        page.click("button", "Sign in")
        page.click("button", "Cancel")
        read(page, "access_denied")


def test_the_sign_in_page_is_accessible_and_requests_no_other_host(
    chromium: Chromium, sign_in_url: Address, origin: str
):
    with chromium.page("about:blank", network=True) as page:
        for uri in ("http://localhost:5173/", "https://far.example.com/"):
            page.go(sign_in_url(redirect_uri=uri))
            read(page, "Who is signing in?")
            for width, scheme in ((1280, "light"), (400, "dark")):
                page.look(width, scheme)
                assert axe.violations(page, only_seen=scheme == "light") == []
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.visit.status == 200
        page.watch()
        assert page.visit.complaints == []
        assert [url for url in page.visit.requests if not url.startswith((origin, "data:"))] == []
