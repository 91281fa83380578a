"""The API documentation in a real browser: its calls can be tried as any user in any world.

Swagger UI takes seconds to draw, so each open page is used for several claims.
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

#: Shows the status of the response.
LIVE = ".live-responses-table .response-col_status:not(.col_header)"
#: The text after a user was chosen, by the beginning of the option.
TOKEN_TEXTS = {"Olive": "of owner", "Rita": "of reader", "Nobody": "without a token"}


def wait_until_ready(page: Page, width: int, scheme: Scheme) -> None:
    """Wait until the page is ready; expect no complaint and no clipped content."""
    page.look(width, scheme)
    page.read("Requests carry a token of owner")
    assert page.visit.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def choose_user(page: Page, user: str) -> None:
    page.choose("User", user)
    page.wait(f"document.querySelector('#said').textContent.includes({TOKEN_TEXTS[user]!r})")


@contextmanager
def open_call(page: Page, call: str) -> Iterator[str]:
    """Open a call and close it again: each try redraws the open calls."""
    block = f"document.querySelector('[id$=\"-{call}\"]')"
    page.evaluate(f"{block}.querySelector('.opblock-summary-control').click()")
    page.wait(f"{block}.querySelector('input[placeholder$=_id]')?.value")  # its ids are filled in
    yield block
    page.evaluate(f"{block}.querySelector('.opblock-summary-control').click()")
    page.wait(f"!{block}.classList.contains('is-open')")


def try_it(page: Page, block: str, status: int) -> None:
    """Try an open call as a user does, until the page shows a status."""
    page.evaluate("performance.clearResourceTimings()")
    page.wait(_press_until_sent(block))
    page.wait(f"{block}.querySelector('{LIVE}')?.textContent.trim().startsWith('{status}')")
    page.evaluate(f"{block}.querySelector('.btn-clear')?.click()")
    page.wait(f"!{block}.querySelector('{LIVE}')")


def _press_until_sent(block: str) -> str:
    """Press Execute until a request is sent: Swagger UI reads its form with a delay."""
    is_sent = "performance.getEntriesByType('resource').some(({ name }) => name.includes('/v1/'))"
    press = f"{block}.querySelector('button.execute').click()"
    return f"({is_sent} || {press}, {is_sent})"


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
        wait_until_ready(page, 1280, "dark")
        assert_leads_on(page, origin)
        choose_user(page, "Olive")
        with open_call(page, "initializeManagedSource") as block:
            page.wait(f"{block}.querySelector('button.execute')")
            page.wait(f"{block}.querySelector('pre[tabindex]')")
            assert_accessible(page)
            try_it(page, block, 202)  # the body fits what was done before

        # On a phone: each try has a new Idempotency-Key.
        page.look(400, "light")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        keys = len(tables(api)["user_api_keys"])
        with open_call(page, "createUserApiKey") as block:
            for _ in range(2):
                try_it(page, block, 201)
        assert_ours(page, origin)

        with open_call(page, "setProjectPoweredByFlag") as block:
            try_it(page, block, 200)
            for user, status in (("Rita", 403), ("Nobody", 401)):
                choose_user(page, user)
                try_it(page, block, status)
        page.watch()
        assert [url for url in page.visit.requests if not url.startswith((origin, "data:"))] == []

    assert tables(api)["projects"] != before
    assert len(tables(api)["user_api_keys"]) == keys + 2
