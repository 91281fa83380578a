"""What the tests expect of every open page of the emulator."""

from __future__ import annotations

from urllib.request import urlopen

from tests.browser.page import Page


def assert_ours(page: Page, origin: str) -> None:
    """Expect that the page loaded without complaints and without requests to other hosts."""
    page.watch()
    assert page.visit.status == 200
    assert "hosting-emulator" in page.evaluate("document.title")
    assert page.visit.complaints == []
    assert [url for url in page.visit.requests if not url.startswith((origin, "data:"))] == []


def assert_leads_on(page: Page, origin: str) -> None:
    """Expect that the links of the page have targets."""
    links = {url.partition("#")[0] for url in page.evaluate("[...document.links].map(String)")}
    own_links = [link for link in links if link.startswith(origin)]
    assert len(own_links) >= 3
    for link in own_links:
        with urlopen(link) as response:
            assert response.status == 200, link
