"""The emulator's pages in a real browser: no complaints, no other host, no sideways scrolling."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.chromium import Chromium
from tests.conftest import Api

PAGES = (
    "/_emulator",
    "/_emulator/docs",
    "/_emulator/docs/errors",
    "/_emulator/docs/errors/idempotency-key-reused",
)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
@pytest.mark.parametrize("path", PAGES)
def test_page_opens_without_complaint(
    chromium: Chromium, origin: str, path: str, width: int, scheme
):
    visit = chromium.visit(origin + path, width=width, scheme=scheme)

    assert visit.status == 200
    assert "hosting-emulator" in visit.title
    assert visit.complaints == []
    assert not visit.too_wide
    assert [url for url in visit.requests if not url.startswith((origin, "data:"))] == []


def test_the_type_of_a_problem_is_a_link_that_opens(chromium: Chromium, api: Api):
    problem = api.dns(token="wrong").json

    visit = chromium.visit(problem["type"])

    assert visit.status == 200
    assert problem["title"] in visit.text
    assert problem["suggested_action"] in visit.text


@pytest.mark.parametrize("path", PAGES[:2])
def test_links_of_the_entrances_lead_somewhere(chromium: Chromium, origin: str, path: str):
    links = {link.partition("#")[0] for link in chromium.visit(origin + path).links}

    found = {link: chromium.visit(link).status for link in links if link.startswith(origin)}

    assert len(found) >= 3
    assert set(found.values()) == {200}


def test_the_entrance_shows_a_world(chromium: Chromium, api: Api, panel: Callable[[str], str]):
    text = chromium.visit(panel("")).text

    assert api.emulator.name in text
    assert api.emulator.base_url in text
    assert api.emulator.projects["shop"] in text
