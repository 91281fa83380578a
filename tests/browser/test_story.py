"""A newcomer finds the way through the dashboard by labels and roles alone."""

from __future__ import annotations

from collections.abc import Callable

from tests.browser.chromium import Chromium
from tests.browser.dashboard import Dashboard
from tests.browser.page import Page
from tests.support.http_world import HttpWorld


def test_labels_and_roles_lead_a_newcomer_through_an_operation(
    chromium: Chromium, api: HttpWorld, panel: Callable[[str], str], origin: str
):
    with chromium.page(panel(""), network=True) as page:
        page.click("link", "Connect a client")
        page.click("button", "Copy token of owner")
        page.read("Copied.")
        token = page.evaluate("navigator.clipboard.readText()")

        page.click("link", "API console")
        page.choose("Call", "Apply project domains")
        page.choose("As", "owner")
        page.choose("Project", "shop")
        page.click("button", "Send")
        page.read("Status 202")
        page.click("link", "Follow the operation")

        page.click("button", "Make it stuck")
        page.find("button", "Release")
        operation = api.emulator.requests.of("apply_project_domains")[0].response["id"]
        reasons = list(api.emulator.why(operation).sentences)
        api.emulator.clock.advance("10m")
        page.find("heading", "Why it is in this state")
        for sentence in reasons:
            page.read(sentence)
        assert api.poll(operation).json["state"] != "succeeded"

        page.click("button", "Release")
        page.click("button", "Advance time until it ends")
        page.gone("button", "Advance time until it ends")
        page.read("succeeded")

        assert api.poll(operation).json["state"] == "succeeded"
        assert api.dns(token=token).status == 200
        assert_no_complaints(page)
        requested_urls = page.visit.requests
        assert [url for url in requested_urls if not url.startswith((origin, "data:"))] == []
        assert any("/_emulator/events?" in url for url in requested_urls)


def test_labels_and_roles_lead_a_newcomer_to_the_reason_of_a_refusal(
    dashboard: Dashboard, api: HttpWorld, panel: Callable[[str], str]
):
    with dashboard(panel("")) as page:
        page.click("link", "API console")
        page.choose("Call", "Create dev access ticket")
        page.choose("As", "reader")
        page.click("button", "Send")
        page.read("Status 403")
        page.click("link", "Request 1: why")

        page.find("heading", "Why")
        page.read("Only the project's owner may do this")
        assert_no_complaints(page, refusals=1)


def test_the_keyboard_alone_moves_time(
    dashboard: Dashboard, api: HttpWorld, panel: Callable[[str], str]
):
    before = api.emulator.clock.now
    with dashboard(panel("")) as page:
        page.find("heading", "Requests")
        page.press("g", "c")
        page.find("heading", "Clock")
        page.tab_to("button", "+ 1 day")
        page.press("Enter")
        page.read("Time advanced by")

    assert before.startswith("2026-01-01")
    assert api.emulator.clock.now.startswith("2026-01-02")


def assert_no_complaints(page: Page, refusals: int = 0) -> None:
    """Expect no complaint of the page except for this number of refused requests."""
    page.watch()
    refused_loads = [line for line in page.visit.complaints if "Failed to load resource" in line]
    assert len(refused_loads) == refusals
    assert [line for line in page.visit.complaints if line not in refused_loads] == []
