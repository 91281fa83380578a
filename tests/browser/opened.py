"""What is expected of every page of ours, once it is open."""

from __future__ import annotations

from urllib.request import urlopen

from tests.browser.page import Page


def assert_ours(page: Page, origin: str) -> None:
    """Expect that it came whole, complained of nothing and asked no other host."""
    page.watch()
    assert page.visit.status == 200
    assert "hosting-emulator" in page.evaluate("document.title")
    assert page.visit.complaints == []
    assert [url for url in page.visit.requests if not url.startswith((origin, "data:"))] == []


def assert_leads_on(page: Page, origin: str) -> None:
    """Expect that its links lead somewhere."""
    links = {url.partition("#")[0] for url in page.evaluate("[...document.links].map(String)")}
    found = [link for link in links if link.startswith(origin)]
    assert len(found) >= 3
    for link in found:
        with urlopen(link) as answer:
            assert answer.status == 200, link
