"""The live requests of the dashboard in a real browser: they appear, hold still, explain and replay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from hosting_emulator.contract.calls import CALLS
from tests.browser.chromium import Chromium
from tests.browser.control_views import items
from tests.browser.dashboard import Dashboard
from tests.browser.page import Page
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]
#: The title of the call that shows or hides the flag.
FLAG_CALL = CALLS["set_project_powered_by_flag"].summary
_NUMBERS = "[...document.querySelectorAll('.requests .n')].map(row => Number(row.textContent))"


def point(page: Page, selector: str) -> None:
    """Move the pointer over an element without pressing."""
    position = page.evaluate(
        f"(({{x, y, width}}) => [x + width / 2, y + 4])"
        f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
    )
    page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=position[0], y=position[1])


def test_new_requests_appear_without_a_reload(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    with dashboard(panel("requests")) as page:
        page.read("No request yet")
        page.read("Live")
        api.dns()
        page.wait(f"{_NUMBERS}.length === 1")
        api.set_flag("no")
        page.read("invalid_request")

        assert page.evaluate(_NUMBERS) == [2, 1]


def test_the_request_list_holds_still_under_the_pointer(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.dns()
    with dashboard(panel("requests")) as page:
        page.wait(f"{_NUMBERS}.length === 1")
        page.read("Live")
        point(page, ".requests li")
        api.dns()
        api.dns()
        page.find("button", "2 new")
        assert page.evaluate(_NUMBERS) == [1]

        page.point_away()
        page.wait(f"{_NUMBERS}.length === 3")


def test_a_paused_request_list_adds_no_rows(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    with dashboard(panel("requests")) as page:
        page.read("Live")
        page.click("button", "Pause")
        api.dns()
        page.find("button", "1 new")
        assert page.evaluate(_NUMBERS) == []
        page.click("button", "Paused")
        page.wait(f"{_NUMBERS}.length === 1")


def test_the_request_list_is_filtered_by_status_call_user_and_text(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.dns()
    api.dns(user="outsider")
    api.compute()
    with dashboard(panel("requests")) as page:
        page.wait(f"{_NUMBERS}.length === 3")
        page.choose("Status", "4xx")
        page.wait(f"String({_NUMBERS}) === '2'")
        page.click("button", "Clear")
        page.choose("Call", "Read database compute")
        page.wait(f"String({_NUMBERS}) === '3'")
        page.click("button", "Clear")
        page.choose("User", "outsider")
        page.wait(f"String({_NUMBERS}) === '2'")
        page.click("button", "Clear")
        page.fill("searchbox", "Text", "compute?env")
        page.wait(f"String({_NUMBERS}) === '3'")
        page.fill("searchbox", "Text", "nothing of the kind")
        page.read("No request in the log matches the filter")


def test_an_open_request_shows_its_trail_and_response(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.dns(user="outsider")
    with dashboard(panel("requests")) as page:
        page.click("link", "1 404")
        page.find("heading", "Request 1")
        page.read("scope")
        page.read('"code": "resource_not_found"')
        page.wait("document.activeElement.textContent === 'Request 1'")
        page.click("button", "Close")
        page.wait("!document.querySelector('.detail')")


def test_an_open_request_closes_when_the_log_is_reset(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.dns()
    with dashboard(panel("requests/1")) as page:
        page.read("Copy as curl")
        page.read("Live")
        api.emulator.reset()
        page.read("the log has no request '1': it is empty")
        assert not page.has("button", "Copy as curl")


def test_arrow_keys_walk_the_requests_and_escape_closes_the_open_request(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    for _ in range(3):
        api.dns()
    with dashboard(panel("requests/2")) as page:
        page.wait("document.activeElement.textContent === 'Request 2'")
        page.wait("document.querySelectorAll('.requests li').length === 3")  # the rows to walk
        page.press("ArrowDown")
        page.wait("document.activeElement.textContent === 'Request 1'")
        page.click("button", "Newer request")
        page.wait("document.activeElement.textContent === 'Request 2'")
        page.evaluate("document.querySelector('[data-n=\"2\"] a').focus()")
        page.press("ArrowUp")
        page.find("heading", "Request 3")
        page.wait("document.activeElement.closest('li')?.dataset.n === '3'")
        page.press("Escape")
        page.wait("!document.querySelector('.detail')")
        assert page.evaluate("document.activeElement.closest('li').dataset.n") == "3"


def test_a_request_row_shows_its_project_and_duration(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.dns()
    api.dns(project="blog")
    with dashboard(panel("requests")) as page:
        page.read(api.emulator.base_url)
        page.wait("document.querySelector('.requests .took').innerText.match(/^[0-9.]+ ms$/)")
        page.choose("Project", "blog")
        page.wait(f"String({_NUMBERS}) === '2'")
        page.wait("document.querySelector('.requests .project').innerText === 'blog'")
        path = page.evaluate("document.querySelector('.requests .mono').innerText")
        assert re.fullmatch("GET /v1/projects/[0-9A-Z]{4}…[0-9A-Z]{4}/edge-dns", path)


@pytest.mark.parametrize("name", ["requests", "connect"])
def test_the_base_url_is_on_one_line(dashboard: Dashboard, api: HttpWorld, panel: Panel, name: str):
    lines = "new Set([...document.querySelector('.address code').getClientRects()].map(r => r.top)).size"
    with dashboard(panel(name)) as page:
        page.find("heading", name.capitalize())
        page.read(api.emulator.base_url)
        for width in (1440, 1024, 400):
            page.look(width, "light")
            assert page.evaluate(lines) == 1
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_open_request_can_be_replayed_with_the_same_key(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.set_flag(False, key="once")
    with dashboard(panel("requests/1")) as page:
        page.click("button", "Resend")
        page.click("button", "With the same key")
        page.find("heading", "Request 2")
        page.read("Resent as request 2")

    newest, first = items(api, "requests")
    assert newest["replayed"]
    assert newest["idempotency_key"] == first["idempotency_key"] == "once"


def test_a_lost_response_is_shown_in_the_list_and_in_the_request(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.emulator.fault("connection_reset", after_commit=True, times=1)
    with pytest.raises(OSError, match=r"."):
        api.set_flag(True)
    with dashboard(panel("requests")) as page:
        page.click("link", f"1 — {FLAG_CALL} response lost: connection_reset")
        page.find("heading", "Request 1")
        page.read("No response reached the client.")
        first = page.evaluate("document.querySelector('.detail .stack p').innerText")
        words = page.evaluate("[...document.querySelectorAll('.step .word')].map(w => w.innerText)")

    assert " ".join(first.split()) == f"— {FLAG_CALL} response lost: connection_reset"
    assert words.index("commit") < words.index("fault")
    assert words[-1] != "commit"


def test_older_requests_are_loaded_on_demand(chromium: Chromium, api: HttpWorld, panel: Panel):
    api.compute()
    for _ in range(519):
        api.dns()
    with chromium.page(panel("requests"), network=True) as page:
        page.read("The newest 200 of 520 are shown.")
        page.read("Live")
        assert list_queries(page) == ["limit=200&trail=false"]

        page.evaluate("document.querySelector('.requests li:last-child a').focus()")
        page.tab_to("button", "Older ones", most=3)
        page.press("Enter")
        page.read("The newest 500 of 520 are shown; search covers the whole log.")
        page.wait("document.activeElement.closest('li')?.querySelector('.n').innerText === '320'")
        assert list_queries(page) == ["limit=200&trail=false", "limit=500&trail=false"]
        assert not page.has("button", "Older ones")

        page.evaluate("document.activeElement.blur()")
        api.compute()
        page.wait(f"{_NUMBERS}[0] === 521")
        numbers = page.evaluate(_NUMBERS)
        page.choose("Call", "Read database compute")
        page.wait(f"String({_NUMBERS}) === '521,1'")
        page.click("button", "Clear")
        page.fill("searchbox", "Text", "database/compute")
        page.wait(f"String({_NUMBERS}) === '521,1'")
    assert numbers == list(range(521, 21, -1))


def test_older_requests_are_added_to_a_paused_list(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    for _ in range(202):
        api.dns()
    with dashboard(panel("requests")) as page:
        page.read("The newest 200 of 202 are shown.")
        page.read("Live")
        page.click("button", "Pause")
        api.dns()
        page.find("button", "1 new")
        page.click("button", "Older ones")
        page.wait(f"{_NUMBERS}.length === 202")
        page.find("button", "1 new")

        assert page.evaluate(_NUMBERS) == list(range(202, 0, -1))


def list_queries(page: Page) -> list[str]:
    """Return the queries with which the page requested the list of requests."""
    return [
        url.partition("?")[2]
        for url in page.visit.requests
        if url.partition("?")[0].endswith("/requests")
    ]
