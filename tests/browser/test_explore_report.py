"""The HTML report of an exploration fits every window: long content wraps or scrolls."""

from __future__ import annotations

from pathlib import Path

from tests.browser.chromium import Chromium
from tests.lab.judge.samples import page_with_long_results


def test_the_explore_report_is_never_wider_than_the_window(chromium: Chromium, tmp_path: Path):
    path = tmp_path / "report.html"
    path.write_text(page_with_long_results(), encoding="utf-8")

    with chromium.page(path.as_uri()) as page:
        for width in (1280, 420, 320):
            page.look(width, "light")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
