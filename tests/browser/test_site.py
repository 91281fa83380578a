"""The documentation site: accessible and never wider than the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.axe import violations
from tests.browser.chromium import Chromium
from tests.browser.tab import Scheme

SITE = Path(__file__).parents[2] / ".venv-docs" / "html"
VIEWS: tuple[tuple[int, Scheme], ...] = ((1440, "light"), (1024, "dark"), (400, "light"))


@pytest.mark.slow
@pytest.mark.skipif(not SITE.exists(), reason="`make site` has not built it")
@pytest.mark.parametrize("name", ["index", "failures", "scenarios", "reference/faults", "search"])
def test_the_documentation_site_is_accessible_at_any_width(name: str, chromium: Chromium):
    with chromium.page((SITE / f"{name}.html").as_uri()) as page:
        for width, scheme in VIEWS:
            page.look(width, scheme)

            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.skipif(not SITE.exists(), reason="`make site` has not built it")
def test_the_documentation_search_works_without_a_network(chromium: Chromium):
    with chromium.page((SITE / "search.html").as_uri() + "?q=rewind") as page:
        page.wait(
            "document.querySelector('#search-results li a[href^=\"time-and-state.html\"]') !== null"
        )
