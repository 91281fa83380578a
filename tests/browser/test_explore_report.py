"""The page of an exploration fits whatever it is looked at on: what is long wraps or scrolls."""

from __future__ import annotations

from pathlib import Path

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator.explore.plan import KINDS, plan
from hosting_emulator.explore.report import page
from tests.browser.chromium import Chromium
from tests.lab.explore.samples import exploration, requests, result


def test_the_page_is_never_wider_than_the_window(chromium: Chromium, tmp_path: Path):
    planned = plan(requests(*reversed(CALLS)), faults=["abort:api_key_creation_uncertain", *KINDS])
    told = ("retried-too-soon: Retried too soon",)
    longest = max(planned.points, key=lambda point: len(str(point)))
    results = [
        result(str(point), conduct=told if point == longest else ()) for point in planned.points
    ]
    results[-1] = result(str(planned.points[-1]), verdict="failed", output=("/deep" * 60,))
    path = tmp_path / "report.html"
    path.write_text(page(exploration(*results, plan=planned)), encoding="utf-8")

    with chromium.page(path.as_uri()) as shown:
        for width in (1280, 420, 320):
            shown.look(width, "light")
            assert shown.evaluate("document.documentElement.scrollWidth") <= width
