"""The address that `start` prints, in a real browser: it opens without complaint, and leads on."""

from __future__ import annotations

from tests.browser.chromium import Chromium
from tests.browser.opened import assert_leads_on, assert_ours


def test_the_address_that_start_prints_leads_a_browser_to_the_page(chromium: Chromium, origin: str):
    with chromium.page(origin, width=400, scheme="dark", network=True) as page:
        page.wait("document.querySelector('main h1') && !document.querySelector('.loading')")
        assert page.evaluate("location.pathname") == "/_emulator"
        for width, scheme in ((400, "dark"), (1280, "light")):
            page.look(width, scheme)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.read("Live")
        assert_ours(page, origin)
        assert_leads_on(page, origin)
