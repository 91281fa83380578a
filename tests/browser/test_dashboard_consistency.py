"""The dashboard offers working buttons and accepted values, and clips nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.control_views import items
from tests.browser.dashboard import Dashboard
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]


def test_the_suggested_request_is_accepted_each_time(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("try")) as page:
        page.read(api.project_path("source:initialize"))
        page.read("Idempotency-Key generated")
        for generation in (1, 2):
            page.wait(f"document.querySelector('textarea').value.includes(': {generation}')")
            page.click("button", "Send")
            page.read(f"Request {generation}:")
            page.read("Status 202")
            api.emulator.clock.until(items(api, "operations?unfinished=true")[0]["id"])
        page.choose("Project", "blog")
        page.read(api.project_path("source:initialize", project="blog"))


def test_a_typed_body_is_not_replaced_by_a_suggestion(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("try")) as page:
        page.wait("document.querySelector('textarea').value.includes(': 1')")
        page.fill("textbox", "Body", '{"expected_source_generation": 9}')
        api.emulator.clock.until(api.initialize().json["id"])
        page.wait("document.querySelector('.count') === null")
        page.watch(0.7)
        assert page.evaluate("document.querySelector('textarea').value").endswith(": 9}")


def test_spent_faults_do_not_count_as_armed(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    spent = api.emulator.fault("abort", call="list_deployments", code="forbidden", times=1)
    live = api.emulator.fault("abort", call="get_dns_authorization", code="forbidden")
    api.deployments()
    with dashboard(panel("connect")) as page:
        page.find("link", live.id)
        page.find("link", "Faults , 1 armed")
        assert not page.has("link", spent.id)


def test_the_clock_panel_shows_the_next_due_event(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("clock")) as page:
        page.read("the DNS authorization of shop expires, in 30d")
        api.apply_domains()
        page.read("apply project domains of shop becomes running, in 2s")


def test_the_history_shows_each_change_and_the_current_commit(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    key = api.create_key("ci").json["value"]
    api.dns(token=key)
    api.emulator.clock.advance("1h")
    with dashboard(panel("history")) as page:
        page.read("clock: time moved by 1h")
        page.read("Get DNS authorization status: the API key ci was used")
        newest = api.emulator.summary.commit
        page.find("button", f"Fork at {newest}")
        assert not page.has("button", f"Rewind to {newest}")
        assert "current" in page.text()


def test_long_lists_state_their_total_and_load_more(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    total = len(items(api, "operations"))
    with dashboard(panel("operations")) as page:
        page.read(f"The newest 30 of {total}.")
        page.read("of 30 shown")
        page.click("button", "More operations")
        page.read(f"The newest 60 of {total}.")
    with dashboard(panel("projects/shop")) as page:
        page.read("The newest 10 of 45.")
        page.click("button", "More deployments")
        page.wait("document.querySelectorAll('tbody tr').length >= 45")


def test_the_panels_offer_only_possible_interventions(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    operation = api.initialize().json["id"]
    api.emulator.intervene("stick_operation", operation=operation)
    with dashboard(panel(f"operations/{operation}")) as page:
        page.find("button", "Require reconciliation")
        assert not page.has("button", "Complete reconciliation")
        page.click("button", "Require reconciliation")
        page.click("button", "Run reconciliation")
        page.click("button", "Complete reconciliation")
        page.read("is complete")
    with dashboard(panel("projects/shop")) as page:
        page.read("held by an operation, until it ends")
        assert not page.has("button", "Release held claim")
    with dashboard(panel("projects/blog")) as page:
        page.click("button", "Hold")
        page.click("button", "Release held claim")
        page.read("is released")


def test_the_trail_marks_only_faults_that_acted(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    api.emulator.fault("latency", call="list_deployments", delay_ms=1, skip_first=9)
    api.emulator.fault("abort", call="list_deployments", code="forbidden", times=1)
    api.emulator.fault("abort", call="get_dns_authorization", code="forbidden")
    api.deployments()
    steps_with_color = """[...document.querySelectorAll('.step.fault')].map(step => [
        step.innerText, getComputedStyle(step, '::before').backgroundColor
          === getComputedStyle(document.querySelector('.step.refusal'), '::before').backgroundColor])"""
    with dashboard(panel("requests/1")) as page:
        page.read("1 armed fault does not match")
        steps = page.evaluate(steps_with_color)

    assert [text for text, red in steps if red and " acted, " in text]
    assert not [text for text, red in steps if red and " acted, " not in text]
    assert any("did not act" in text for text, _ in steps)


@pytest.mark.parametrize("name", ["operations", "problems", "faults", "projects", "history"])
def test_the_panels_fit_a_phone(dashboard: Dashboard, api: HttpWorld, panel: Panel, name: str):
    api.emulator.fault("abort", call="list_deployments", code="forbidden", times=1)
    api.apply_domains()
    with dashboard(panel(name), width=400) as page:
        page.wait("document.querySelector('main tbody td')")
        assert page.evaluate(
            "[...document.querySelectorAll('td')].every(d => d.children.length === 1)"
        )
        are_narrow = "[...document.querySelectorAll('td .badge')].every(b => b.offsetWidth < 150)"
        assert page.evaluate(are_narrow)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        are_low = "[...document.querySelectorAll('input')].every(i => i.offsetHeight < 60)"
        assert page.evaluate(are_low)
        bars = """[...document.querySelectorAll('.bar-part')].map(bar => bar.getBoundingClientRect())
            .every(box => box.left >= 0 && box.right <= innerWidth && box.width >= 1)"""
        assert page.evaluate(bars)
