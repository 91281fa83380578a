"""Every panel of the page, as axe-core sees it: light and dark, on a wide window and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

import pytest

from tests.browser.axe import violations
from tests.browser.chromium import Chromium, Scheme
from tests.browser.page import Page
from tests.conftest import Api

_TABLE = files("hosting_emulator.server.dashboard").joinpath("static", "panels.js")
PANELS = re.findall(r'\{ id: "([a-z]+)"', _TABLE.read_text(encoding="utf-8"))
LOOKS: list[tuple[int, Scheme]] = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


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
    assert {"overview", "requests", "clock", "assumptions"} <= set(PANELS)


def test_axe_sees_what_is_wrong(chromium: Chromium, panel: Callable[[str], str]):
    with chromium.page(panel("overview")) as page:
        settle(page)
        page.evaluate(
            "document.querySelector('main').append(document.createElement('input')), void 0"
        )
        assert "label" in [line.split(" | ")[0] for line in violations(page)]


@pytest.mark.parametrize("name", PANELS)
def test_panel_is_accessible(
    name: str, chromium: Chromium, lived_in: Api, panel: Callable[[str], str]
):
    with chromium.page(panel(name)) as page:
        settle(page)
        _check(page)


@pytest.mark.parametrize("name", ["requests", "operations", "projects", "scenarios"])
def test_one_thing_of_a_panel_is_accessible(
    name: str, chromium: Chromium, lived_in: Api, panel: Callable[[str], str]
):
    operation = lived_in.emulator.requests.of("apply_project_domains")[0].answer["id"]
    chosen = {
        "requests": "3",
        "operations": operation,
        "projects": "shop",
        "scenarios": "provider-outage",
    }
    with chromium.page(panel(f"{name}/{chosen[name]}")) as page:
        settle(page)
        _check(page)


@pytest.mark.parametrize(
    ("name", "button"),
    [("scenarios/provider-outage", "Load"), ("history", "Rewind"), ("operations/{}", "Fail")],
)
def test_what_unfolds_is_accessible(
    name: str, button: str, chromium: Chromium, lived_in: Api, panel: Callable[[str], str]
):
    operation = lived_in.emulator.requests.of("apply_project_domains")[0].answer["id"]
    with chromium.page(panel(name.format(operation))) as page:
        settle(page)
        page.click("button", button)
        _check(page)


def test_dialog_of_keys_is_accessible(chromium: Chromium, panel: Callable[[str], str]):
    with chromium.page(panel("overview")) as page:
        settle(page)
        page.press("?")
        page.find("dialog", "Keys")
        _check(page)


def _check(page: Page) -> None:
    wrong = []
    for width, scheme in LOOKS:
        page.look(width, scheme)
        page.watch(0.1)
        wrong += [f"{width} {scheme}: {line}" for line in violations(page)]
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wrong.append(f"{width} {scheme}: the page is wider than its window")
    assert "\n".join(wrong) == ""
    assert page.visit.complaints == []
