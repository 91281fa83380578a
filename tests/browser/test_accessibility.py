"""Every panel of the page, as axe-core sees it: light and dark, on a wide window and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

import pytest

from tests.browser.axe import About, violations
from tests.browser.chromium import Chromium, Scheme
from tests.browser.dashboard import Dashboard
from tests.browser.page import Page
from tests.conftest import Api

_TABLE = files("hosting_emulator.server").joinpath("dashboard", "static", "panels.js")
PANELS = re.findall(r'\{ id: "([a-z]+)"', _TABLE.read_text(encoding="utf-8"))
#: What is asked where: the form at both widths, colours in both schemes. None of ours depends on the
#: width, and what is seen on a phone is seen on a wide window.
LOOKS: tuple[tuple[int, Scheme, About], ...] = (
    (1280, "light", "all"),
    (1280, "dark", "colours"),
    (400, "dark", "form"),
)
SWAGGER = "#swagger"
#: What Swagger UI, which is somebody else's, breaks by itself in the part of the page that it draws.
SWAGGERS_OWN = {
    "color-contrast": "its badges of methods, its buttons and the colours of its examples",
    "label": "its field of a body",
    "landmark-main-is-top-level": "it draws a main of its own, within ours",
    "landmark-no-duplicate-main": "the same, and so axe says it of ours",
    "landmark-unique": "the same",
    "select-name": "its choices of media types",
}


@pytest.fixture
def lived_in(api: Api) -> Api:
    """A world in which there is something of everything to show."""
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
    """Wait until the panel shows what it has to show."""
    page.wait("document.querySelector('main h1') && !document.querySelector('main .loading')")


def test_the_table_of_panels_is_read():
    assert len(PANELS) >= 11
    assert {"connect", "requests", "clock", "assumptions"} <= set(PANELS)


@pytest.mark.parametrize(
    ("about", "seen"),
    [("all", {"label", "color-contrast"}), ("colours", {"color-contrast"}), ("form", {"label"})],
)
def test_axe_sees_what_is_wrong(
    about: About, seen: set[str], dashboard: Dashboard, panel: Callable[[str], str]
):
    with dashboard(panel("connect")) as page:
        settle(page)
        page.evaluate(
            "document.querySelector('main').insertAdjacentHTML('beforeend',"
            ' \'<input><p id="pale">Too pale</p>\'), pale.style.cssText = "color: #fff; background: #eee"'
        )
        assert {line.split(" | ")[0] for line in violations(page, about=about)} == seen
        page.evaluate("pale.previousSibling.remove(), pale.remove()")


@pytest.mark.parametrize("name", PANELS)
def test_panel_is_accessible(
    name: str, dashboard: Dashboard, lived_in: Api, panel: Callable[[str], str]
):
    with dashboard(panel(name)) as page:
        settle(page)
        _check(page)


@pytest.mark.parametrize("name", ["requests", "operations", "projects", "scenarios"])
def test_one_thing_of_a_panel_is_accessible(
    name: str, dashboard: Dashboard, lived_in: Api, panel: Callable[[str], str]
):
    operation = lived_in.emulator.requests.of("apply_project_domains")[0].answer["id"]
    chosen = {
        "requests": "3",
        "operations": operation,
        "projects": "shop",
        "scenarios": "provider-outage",
    }
    with dashboard(panel(f"{name}/{chosen[name]}")) as page:
        settle(page)
        _check(page)


@pytest.mark.parametrize(
    ("name", "button"),
    [("scenarios/provider-outage", "Load"), ("history", "Rewind"), ("operations/{}", "Fail")],
)
def test_what_unfolds_is_accessible(
    name: str, button: str, dashboard: Dashboard, lived_in: Api, panel: Callable[[str], str]
):
    operation = lived_in.emulator.requests.of("apply_project_domains")[0].answer["id"]
    with dashboard(panel(name.format(operation))) as page:
        settle(page)
        page.click("button", button)
        _check(page)


def test_a_scenario_that_is_wrong_is_accessible(dashboard: Dashboard, panel: Callable[[str], str]):
    with dashboard(panel("scenarios")) as page:
        settle(page)
        page.fill(
            "textbox", "Scenario, as YAML", "name: mine\ndescription: It is wrong.\nclok: {}\n"
        )
        page.click("button", "Check")
        page.read("Line 3, column 1")
        told = [line for line in page.visit.complaints if "400 (Bad Request)" not in line]
        page.visit.complaints[:] = told
        _check(page)


def test_dialog_of_keys_is_accessible(dashboard: Dashboard, panel: Callable[[str], str]):
    with dashboard(panel("connect")) as page:
        settle(page)
        page.press("?")
        page.find("dialog", "Keys")
        _check(page)


@pytest.mark.parametrize("path", ["errors", "errors/idempotency-key-reused"])
def test_page_of_a_problem_is_accessible(path: str, chromium: Chromium, origin: str):
    with chromium.page(f"{origin}/_emulator/docs/{path}") as page:
        _check(page)


def test_api_documentation_is_accessible_but_for_what_is_named(chromium: Chromium, origin: str):
    with chromium.page(f"{origin}/_emulator/docs") as page:
        page.read("Requests carry a token of owner")
        page.evaluate(f"document.querySelector('{SWAGGER} .opblock-summary-control').click()")
        page.wait(f"document.querySelector('{SWAGGER} button.execute')")
        theirs = {line.split(" | ")[0] for line in violations(page, within=SWAGGER)}
        page.evaluate(f"document.querySelector('{SWAGGER}').hidden = true, void 0")
        _check(page)
    assert theirs
    assert theirs <= set(SWAGGERS_OWN)


def _check(page: Page) -> None:
    wrong = []
    for width, scheme, about in LOOKS:
        page.look(width, scheme)
        found = violations(page, about=about)
        wrong += [f"{width} {scheme}: {line}" for line in found]
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wrong.append(f"{width} {scheme}: the page is wider than its window")
    assert "\n".join(wrong) == ""
    assert page.visit.complaints == []
