"""The conduct panel in a real browser: findings, their requests and remedies."""

from __future__ import annotations

from collections.abc import Callable

from tests.browser.axe import violations
from tests.browser.dashboard import Dashboard
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]


def misbehave(api: HttpWorld) -> None:
    """Break three rules: an error, a warning and a note."""
    api.apply_domains(key=None)
    operation = api.apply_domains().json["id"]
    api.emulator.clock.advance("1s")
    api.poll(operation)
    api.dns(key="not-listed")


def test_conduct_findings_appear_live_with_their_requests(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("conduct")) as page:
        page.read("No findings in 0 requests.")
        misbehave(api)
        page.read("3 findings in 4 requests.")
        page.read("A mutation without an Idempotency-Key")
        page.read("get_dns_authorization was sent with an Idempotency-Key.")
        page.read("Create one key per intended change")
        page.read("(contract, section Endpoints)")
        titles = page.evaluate("[...document.querySelectorAll('main h2')].map(h => h.innerText)")
        assert titles == [
            "A mutation without an Idempotency-Key",
            "Polled before next_poll_after_seconds had passed",
            "An Idempotency-Key on a call that does not list this header",
        ]
        places = page.evaluate(
            "[...document.querySelectorAll('main h2')].map(h => {"
            "  const id = h.closest('.card').querySelector('code').getBoundingClientRect();"
            "  const title = h.getBoundingClientRect();"
            "  return id.top >= title.bottom && id.left === title.left;})"
        )
        assert (
            places == [True] * 3
        )  # the id of each rule stands below its title, however long the title is
        page.click("link", "Request 3")
        page.wait("location.hash.startsWith('#/requests/3')")


def test_the_navigation_counts_conduct_findings(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    with dashboard(panel("requests")) as page:
        page.read("Live")
        misbehave(api)
        page.find("link", "Conduct , 3 found")
        page.click("link", "1 400 Apply project domains conduct")
        page.read("Conduct: A mutation without an Idempotency-Key.")


def test_an_unfinished_operation_is_reported_once_the_client_has_finished(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    api.apply_domains()

    with dashboard(panel("conduct")) as page:
        page.read("No findings in 1 request.")
        page.click("button", "The client has finished")
        page.read("An operation was started but not polled until it ended")


def test_requests_from_the_dashboard_are_not_checked_for_conduct(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("try?call=get_dns_authorization")) as page:
        page.click("button", "Send")
        page.wait("document.querySelector('main').innerText.includes('200')")
    with dashboard(panel("conduct")) as page:
        page.read("Not checked: 1 request from the emulator's own pages and tools.")


def test_the_conduct_panel_with_findings_is_accessible(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    misbehave(api)

    with dashboard(panel("conduct?final=true")) as page:
        page.read("4 findings in 4 requests.")
        assert violations(page, only_seen=True) == []
        page.look(400, "dark")
        assert violations(page) == []
