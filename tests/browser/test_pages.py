"""The emulator's pages in a real browser: no complaints, no other host, no sideways scrolling."""

from __future__ import annotations

from collections.abc import Callable
from urllib.request import urlopen

import pytest

from tests.browser.chromium import Chromium
from tests.conftest import Api

PAGES = (
    "/_emulator",
    "/_emulator/docs",
    "/_emulator/docs/errors",
    "/_emulator/docs/errors/idempotency-key-reused",
)


@pytest.mark.parametrize("path", PAGES)
def test_page_opens_without_complaint(chromium: Chromium, origin: str, path: str):
    with chromium.page(origin + path, width=400, scheme="dark") as page:
        page.wait("document.querySelector('h1') && !document.querySelector('.loading')")
        for width, scheme in ((400, "dark"), (1280, "light")):
            page.look(width, scheme)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.watch()

        assert "hosting-emulator" in page.evaluate("document.title")
        assert page.visit.status == 200
        assert page.visit.complaints == []
        assert [url for url in page.visit.requests if not url.startswith((origin, "data:"))] == []


def test_the_address_that_start_prints_leads_a_browser_to_the_page(chromium: Chromium, origin: str):
    with chromium.page(origin) as page:
        page.wait("document.querySelector('main h1')")
        assert page.evaluate("location.pathname") == "/_emulator"


def test_the_type_of_a_problem_is_a_link_that_opens(chromium: Chromium, api: Api):
    problem = api.dns(token="wrong").json

    visit = chromium.visit(problem["type"])

    assert visit.status == 200
    assert problem["title"] in visit.text
    assert problem["suggested_action"] in visit.text


@pytest.mark.parametrize("path", PAGES[:2])
def test_links_of_the_entrances_lead_somewhere(chromium: Chromium, origin: str, path: str):
    links = {link.partition("#")[0] for link in chromium.visit(origin + path).links}

    found = [link for link in links if link.startswith(origin)]
    assert len(found) >= 3
    for link in found:
        with urlopen(link) as answer:
            assert answer.status == 200, link


def test_the_entrance_shows_a_world(chromium: Chromium, api: Api, panel: Callable[[str], str]):
    text = chromium.visit(panel("")).text

    assert api.emulator.name in text
    assert api.emulator.base_url in text
