"""Every panel of the dashboard under axe-core: light and dark, on wide and narrow windows and a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

import pytest

from tests.browser.axe import assert_accessible, violations
from tests.browser.chromium import Chromium
from tests.browser.dashboard import Dashboard
from tests.browser.opened import assert_ours
from tests.browser.page import Page
from tests.support.http_world import HttpWorld

_TABLE = files("hosting_emulator.dashboard").joinpath("static", "panels.js")
PANELS = re.findall(r'\{ id: "([a-z]+)"', _TABLE.read_text(encoding="utf-8"))
SWAGGER = "#swagger"


@pytest.fixture
def populated_world(api: HttpWorld) -> HttpWorld:
    """A world with something to show in every panel."""
    api.initialize()
    operation = api.apply_domains().json["id"]
    api.emulator.intervene("stick_operation", operation=operation)
    api.set_flag(True)
    api.set_flag("yes")
    api.dns(token="wrong")
    api.deployments("?limit=2")
    api.create_key()
    api.ticket()
    api.compute()
    api.emulator.fault("abort", call="list_deployments", code="forbidden", times=2)
    api.emulator.snapshot()
    return api


def settle(page: Page) -> None:
    """Wait until the panel is drawn."""
    page.wait("document.querySelector('main h1') && !document.querySelector('main .loading')")


def test_the_dashboard_has_at_least_eleven_panels():
    assert len(PANELS) >= 11
    assert {"connect", "requests", "clock", "assumptions"} <= set(PANELS)


def test_axe_finds_a_planted_violation(dashboard: Dashboard, panel: Callable[[str], str]):
    with dashboard(panel("connect")) as page:
        settle(page)
        page.evaluate(
            "document.querySelector('main').insertAdjacentHTML('beforeend',"
            ' \'<input><p id="pale">Too pale</p>\'), pale.style.cssText = "color: #fff; background: #eee"'
        )
        assert {line.split(" | ")[0] for line in violations(page)} == {
            "label",
            "color-contrast",
        }
        page.evaluate("pale.previousSibling.remove(), pale.remove()")


@pytest.mark.parametrize("name", PANELS)
def test_every_panel_is_accessible(
    name: str, dashboard: Dashboard, populated_world: HttpWorld, panel: Callable[[str], str]
):
    with dashboard(panel(name)) as page:
        settle(page)
        assert_accessible(page)


@pytest.mark.parametrize("name", ["requests", "operations", "projects", "scenarios"])
def test_the_detail_view_of_a_panel_is_accessible(
    name: str, dashboard: Dashboard, populated_world: HttpWorld, panel: Callable[[str], str]
):
    operation = populated_world.emulator.requests.of("apply_project_domains")[0].response["id"]
    chosen = {
        "requests": "3",
        "operations": operation,
        "projects": "shop",
        "scenarios": "provider-outage",
    }
    with dashboard(panel(f"{name}/{chosen[name]}")) as page:
        settle(page)
        assert_accessible(page)


@pytest.mark.parametrize(
    ("name", "button", "within"),
    [
        ("scenarios/provider-outage", "Load", "dialog[open]"),
        ("history", "Rewind", "dialog[open]"),
        ("operations/{}", "Fail", "form[aria-label=Fail]"),
    ],
)
def test_dialogs_and_forms_of_a_panel_are_accessible(
    name: str,
    button: str,
    within: str,
    dashboard: Dashboard,
    populated_world: HttpWorld,
    panel: Callable[[str], str],
):
    operation = populated_world.emulator.requests.of("apply_project_domains")[0].response["id"]
    with dashboard(panel(name.format(operation))) as page:
        settle(page)
        page.click("button", button)
        assert_accessible(page, within=within)


def test_the_error_of_an_invalid_scenario_is_accessible(
    dashboard: Dashboard, panel: Callable[[str], str]
):
    with dashboard(panel("scenarios")) as page:
        settle(page)
        page.fill(
            "textbox", "Scenario, as YAML", "name: mine\ndescription: It is wrong.\nclok: {}\n"
        )
        page.click("button", "Check")
        page.read("Line 3, column 1")
        complaints = [line for line in page.visit.complaints if "400 (Bad Request)" not in line]
        page.visit.complaints[:] = complaints
        assert_accessible(page)


def test_the_menu_of_worlds_is_accessible(dashboard: Dashboard, panel: Callable[[str], str]):
    with dashboard(panel("requests")) as page:
        settle(page)
        page.click("button", "Worlds")
        page.find("button", "Create")
        assert_accessible(page)
        page.press("Escape")
        page.gone("button", "Create")


def test_the_dialog_of_keyboard_shortcuts_is_accessible(
    dashboard: Dashboard, panel: Callable[[str], str]
):
    with dashboard(panel("connect")) as page:
        settle(page)
        page.press("?")
        page.find("dialog", "Keys")
        assert_accessible(page, within="dialog[open]")


def test_the_page_of_all_problems_is_accessible(chromium: Chromium, origin: str):
    with chromium.page(f"{origin}/_emulator/docs/errors", network=True) as page:
        assert_accessible(page)
        assert_ours(page, origin)


@pytest.mark.parametrize("name", ["", "/failures", "/overview", "/reference/faults"])
def test_the_pages_of_the_manual_are_accessible(chromium: Chromium, origin: str, name: str):
    with chromium.page(f"{origin}/_emulator/docs{name}", network=True) as page:
        for width in (1280, 400):
            page.look(width, "dark" if name else "light")
            assert_accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert_ours(page, origin)


def test_the_type_of_a_problem_is_a_link_to_an_accessible_page(
    chromium: Chromium, api: HttpWorld, origin: str
):
    problem = api.dns(token="wrong").json

    with chromium.page(problem["type"], network=True) as page:
        text = page.text()
        assert_accessible(page)
        assert_ours(page, origin)

    assert problem["title"] in text
    assert problem["suggested_action"] in text


@pytest.mark.torture
def test_the_calls_of_the_control_api_documentation_are_accessible(chromium: Chromium, origin: str):
    with chromium.page(f"{origin}/_emulator/docs/control-api", network=True) as page:
        page.wait(f"document.querySelector('{SWAGGER} .opblock-summary-control')")
        page.evaluate(f"document.querySelector('{SWAGGER} .opblock-summary-control').click()")
        page.wait(f"document.querySelector('{SWAGGER} button.execute')")
        page.wait(f"document.querySelector('{SWAGGER} pre[tabindex]')")
        assert_accessible(page)
        assert_ours(page, origin)
