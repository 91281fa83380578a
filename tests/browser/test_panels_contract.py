"""The contract panels in a real browser: assumptions and the catalog of problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.browser.chromium import Chromium
from tests.browser.dashboard import Dashboard
from tests.browser.page import Page
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]


def changed_assumptions(api: HttpWorld) -> dict[str, Any]:
    assumptions = api.emulator.assumptions
    return {
        assumption.name: assumption.value
        for assumption in assumptions
        if assumption.value != assumption.default
    }


def names(page: Page) -> list[str]:
    row_names: list[str] = page.evaluate(
        "[...document.querySelectorAll('.assumptions > li')].map(row => row.dataset.name)"
    )
    return row_names


def codes(page: Page) -> dict[str, str]:
    return dict(
        page.evaluate(
            "[...document.querySelectorAll('main tbody a')].map(a => [a.innerText.trim(), a.href])"
        )
    )


def test_choosing_an_alternative_sets_the_assumption_and_moves_no_row(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("assumptions")) as page:
        page.read("0 changed")
        before = names(page)
        page.choose("deployment_order", "oldest_first")
        page.read("1 changed")
        after = names(page)

    assert changed_assumptions(api) == {"deployment_order": "oldest_first"}
    assert before == after


def test_a_typed_assumption_value_is_set_or_refused(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("assumptions")) as page:
        page.fill("textbox", "default_page_size", "7")
        page.press("Enter")
        page.read("default_page_size is 7.")
        page.fill("textbox", "default_page_size", "1000")
        page.click("button", "Set default_page_size")
        page.read("Assumption refused")

    assert changed_assumptions(api) == {"default_page_size": 7}


def test_a_typed_assumption_value_survives_a_change_from_elsewhere(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("assumptions")) as page:
        page.fill("textbox", "default_page_size", "9")
        api.emulator.set_assumptions({"default_page_size": 7})
        page.read("1 changed")
        page.click("button", "Set default_page_size")
        page.read("default_page_size is 9.")

    assert changed_assumptions(api) == {"default_page_size": 9}


def test_changed_assumptions_come_first_and_can_be_reset_separately(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    values = {"timestamp_form": "offset", "accepted_status": 200}
    api.emulator.set_assumptions(values)

    with dashboard(panel("assumptions")) as page:
        page.read("2 changed")
        first = names(page)[:2]
        page.click("button", "Reset timestamp_form")
        page.read("1 changed")
        page.wait("document.activeElement.id === 'assumption-timestamp_form'")

    assert sorted(first) == sorted(values)
    assert changed_assumptions(api) == {"accepted_status": 200}


def test_all_assumptions_are_reset_after_confirmation(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    values = {"accepted_status": 200, "progress_phases": ["queued", "b", "c", "d", "e"]}
    api.emulator.set_assumptions(values)

    with dashboard(panel("assumptions")) as page:
        page.click("button", "Reset all (2)")
        page.click("button", "Reset", within=("dialog", "Reset assumptions"))
        page.read("0 changed")

    assert changed_assumptions(api) == {}


def test_the_problems_panel_links_each_code_to_its_page(
    chromium: Chromium, dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    problem_codes = {problem["code"] for problem in api.emulator.control.contract("problems")}

    with dashboard(panel("problems")) as page:
        page.read(f"{len(problem_codes)} of {len(problem_codes)}")
        links = codes(page)

    assert set(links) == problem_codes
    link = links["idempotency_key_reused"]
    assert link.endswith("/_emulator/docs/errors/idempotency-key-reused")
    assert chromium.visit(link).status == 200


def test_problems_are_filtered_by_text_status_and_retry(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    problems = api.emulator.control.contract("problems")
    expected = {
        problem["code"] for problem in problems if problem["status"] == 503 and problem["retryable"]
    }

    with dashboard(panel("problems")) as page:
        page.choose("Status", "503")
        page.choose("Retry", "retryable")
        page.read(f"{len(expected)} of {len(problems)}")
        links = codes(page)
        page.fill("searchbox", "Find", "no such words")
        page.read("No code matches.")

    assert set(links) == expected


def test_an_alternative_that_contradicts_the_contract_shows_a_warning(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("assumptions")) as page:
        page.choose("listed_statuses", "open (contradicts the contract)")
        page.read("The assumption listed_statuses=open contradicts the contract")

    assert changed_assumptions(api) == {"listed_statuses": "open"}
