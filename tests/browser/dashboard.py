"""The dashboard in one tab for all tests of a file: each test goes to the panel of its own world.

Loading a page costs a browser ten times as much as going to another panel of it. A test that
changes the page itself (its first load, its storage, its scripts) needs its own: `chromium.page`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.browser.chromium import Chromium
from tests.browser.page import Page

#: A panel that does not exist: once the page says so, nothing of the previous test is left on it.
_NOWHERE = "#/between-two-tests"
_TITLE = "document.querySelector('main h1')?.innerText"
_TIDY = """document.querySelectorAll("dialog[open]").forEach(dialog => dialog.close()),
  document.querySelectorAll(".toast button").forEach(button => button.click()),
  document.body.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true})),
  document.activeElement?.blur(),
  import("/_emulator/static/dashboard/store.js").then(({said}) => void (said.value = ""))"""


class Dashboard:
    """One page that many tests use. A failed test closes it, and the next test opens another."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._opened = ExitStack()
        self._page: Page | None = None

    @contextmanager
    def __call__(self, url: str, *, width: int = 1280) -> Iterator[Page]:
        """Go to a panel in the state of a page that was just loaded."""
        try:
            if self._page is None:
                self._page = self._opened.enter_context(self._chromium.page(url, width=width))
            else:
                self._go(self._page, url, width)
            yield self._page
            self._rest(self._page)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the tab."""
        self._page = None
        self._opened.close()

    @staticmethod
    def _go(page: Page, url: str, width: int) -> None:
        page.look(width, "light")
        page.evaluate(f"location.hash = {json.dumps('#' + url.partition('#')[2])}, void 0")
        page.wait(f"{_TITLE} !== 'No such panel'")

    @staticmethod
    def _rest(page: Page) -> None:
        """Leave the world before it is deleted, and reset what the test opened, wrote or pointed at."""
        page.point_away()
        page.evaluate(f"location.hash = {json.dumps(_NOWHERE)}, void 0")
        page.wait(f"{_TITLE} === 'No such panel'")
        page.evaluate(_TIDY)
        page.wait("!document.querySelector('.toast, dialog[open]')")
        page.read("Live")
        page.visit.complaints.clear()
