"""The API documentation in a real browser: its calls can be tried, by anybody in any world.

Swagger UI takes seconds to draw: each page that is opened is used for all that can be claimed of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.browser.axe import assert_accessible
from tests.browser.chromium import Chromium
from tests.browser.opened import assert_leads_on, assert_ours
from tests.browser.page import Page
from tests.browser.tab import Scheme
from tests.support.http_world import HttpWorld

#: Where the answer's status is shown.
LIVE = ".live-responses-table .response-col_status:not(.col_header)"
#: What is said once a user was chosen, by the beginning of the choice.
SAID = {"Olive": "of owner", "Rita": "of reader", "Nobody": "without a token"}


def opened(page: Page, width: int, scheme: Scheme) -> None:
    """Wait until the page can be used: nothing was complained of, and nothing is cut."""
    page.look(width, scheme)
    page.read("Requests carry a token of owner")
    assert page.visit.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def become(page: Page, user: str) -> None:
    page.choose("User", user)
    page.wait(f"document.querySelector('#said').textContent.includes({SAID[user]!r})")


@contextmanager
def opened_call(page: Page, call: str) -> Iterator[str]:
    """Open a call and close it again: what is open is drawn each time that something is tried."""
    block = f"document.querySelector('[id$=\"-{call}\"]')"
    page.evaluate(f"{block}.querySelector('.opblock-summary-control').click()")
    page.wait(f"{block}.querySelector('input[placeholder$=_id]')?.value")  # its ids are filled in
    yield block
    page.evaluate(f"{block}.querySelector('.opblock-summary-control').click()")
    page.wait(f"!{block}.classList.contains('is-open')")


def try_it(page: Page, block: str, status: int) -> None:
    """Try a call that is open as a user does, until such a status is shown."""
    page.evaluate("performance.clearResourceTimings()")
    page.wait(_sent(block))
    page.wait(f"{block}.querySelector('{LIVE}')?.textContent.trim().startsWith('{status}')")
    page.evaluate(f"{block}.querySelector('.btn-clear')?.click()")
    page.wait(f"!{block}.querySelector('{LIVE}')")


def _sent(block: str) -> str:
    """Press Execute until something was sent: Swagger UI takes in what it shows some turns later."""
    sent = "performance.getEntriesByType('resource').some(({ name }) => name.includes('/v1/'))"
    press = f"{block}.querySelector('button.execute').click()"
    return f"({sent} || {press}, {sent})"


def tables(api: HttpWorld) -> Any:
    return api.emulator.export()["tables"]


def test_calls_tried_in_the_api_documentation_act_as_the_chosen_user(
    chromium: Chromium, api: HttpWorld, origin: str
):
    api.set_flag(False)
    api.initialize()
    api.emulator.clock.advance("1h")
    before = tables(api)["projects"]
    with chromium.page(f"{origin}/_emulator/docs?world={api.emulator.name}", network=True) as page:
        opened(page, 1280, "dark")
        assert_leads_on(page, origin)
        become(page, "Olive")
        with opened_call(page, "initializeManagedSource") as block:
            page.wait(f"{block}.querySelector('button.execute')")
            page.wait(f"{block}.querySelector('pre[tabindex]')")
            assert_accessible(page)
            try_it(page, block, 202)  # the body fits what was done before

        # On a phone: each try has a new Idempotency-Key.
        page.look(400, "light")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        keys = len(tables(api)["user_api_keys"])
        with opened_call(page, "createUserApiKey") as block:
            for _ in range(2):
                try_it(page, block, 201)
        assert_ours(page, origin)

        with opened_call(page, "setProjectPoweredByFlag") as block:
            try_it(page, block, 200)
            for user, status in (("Rita", 403), ("Nobody", 401)):
                become(page, user)
                try_it(page, block, status)
        page.watch()
        assert [url for url in page.visit.requests if not url.startswith((origin, "data:"))] == []

    assert tables(api)["projects"] != before
    assert len(tables(api)["user_api_keys"]) == keys + 2
