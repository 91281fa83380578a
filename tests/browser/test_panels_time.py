"""The time panels in a real browser: the clock, and the history of commits with snapshots."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.dashboard import Dashboard
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]


def last_commit(api: HttpWorld) -> int:
    return int(api.emulator.summary.commit)


def test_a_preset_advances_the_clock_and_confirms_it(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    operation = api.apply_domains().json["id"]

    with dashboard(panel("clock")) as page:
        page.click("button", "+ 10 minutes")
        page.read("Time advanced by 10m")

    assert api.poll(operation).json["state"] == "succeeded"


def test_the_clock_panel_advances_by_a_duration_and_to_a_timestamp(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("clock")) as page:
        page.fill("textbox", "By a duration", "2d")
        page.press("Enter")
        page.read("Time advanced by 2d")
        page.fill("textbox", "To a timestamp", "2031-05-06T07:08:09Z")
        page.click("button", "Go there")
        page.read("2031-05-06 07:08:09")

    assert api.emulator.clock.now == "2031-05-06T07:08:09.000Z"


def test_the_clock_panel_refuses_an_invalid_duration(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    before = api.emulator.clock.now

    with dashboard(panel("clock")) as page:
        page.fill("textbox", "By a duration", "soon")
        page.click("button", "Advance")
        page.read("'soon'")

    assert api.emulator.clock.now == before


def test_the_clock_panel_advances_until_an_operation_ends(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    operation = api.initialize().json["id"]

    with dashboard(panel("clock")) as page:
        page.choose("Until an operation ends", "initialize managed source of shop")
        page.click("button", "Until it ends")
        page.read("No operation is in progress")

    assert api.poll(operation).json["state"] == "succeeded"


def test_the_clock_panel_sets_the_mode_and_follows_changes_from_elsewhere(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("clock")) as page:
        page.click("radio", "scaled")
        page.fill("spinbutton", "Rate", "120")
        page.click("button", "Set mode")
        page.read("120 world seconds each second")
        page.wait("document.activeElement.innerText === 'Set mode'")
        clock = api.emulator.clock.state
        api.emulator.clock.freeze()
        page.wait("document.querySelector('[value=frozen]').checked")

    assert (clock.mode, clock.rate) == ("scaled", 120)


def test_rewinding_needs_confirmation_and_adds_a_commit(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    before = last_commit(api)
    api.set_flag(enabled=False)

    with dashboard(panel("history")) as page:
        page.click("button", f"Rewind to {before}")
        page.click("button", "Rewind", within=("dialog", f"Rewind to {before}"))
        page.read(f"The world was rewound to commit {before}.")
        page.click("heading", "History")  # the list holds still while it has the focus
        page.read(f"rewound to {before}")

    projects = api.emulator.control.get(f"/worlds/{api.emulator.name}/projects")["items"]
    assert next(project for project in projects if project["alias"] == "shop")["flag"]["enabled"]


def test_escape_cancels_a_rewind(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    before = last_commit(api)
    api.set_flag(enabled=False)

    with dashboard(panel("history")) as page:
        page.click("button", f"Rewind to {before}")
        page.find("dialog", f"Rewind to {before}")
        page.press("Escape")
        page.wait("!document.querySelector('dialog[open]')")
        page.wait(f"document.activeElement.ariaLabel === 'Rewind to {before}'")

    assert last_commit(api) == before + 1


def test_forking_at_a_commit_creates_a_world_at_that_commit(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    before = last_commit(api)
    api.set_flag(enabled=False)

    with dashboard(panel("history")) as page:
        page.click("button", f"Fork at {before}")
        page.read(f"starts at commit {before}")
        name = page.evaluate(r"/World (\S+) starts/.exec(document.body.innerText)[1]")

    assert api.emulator.control.world(name).summary.commit == before
    api.emulator.control.world(name).delete()


def test_a_snapshot_is_taken_restored_and_deleted(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    deployments = api.deployments().json["items"]

    with dashboard(panel("history")) as page:
        page.click("button", "Take a snapshot")
        page.read("is taken at")
        (snapshot,) = api.emulator.control.get(f"worlds/{api.emulator.name}/snapshots")["items"]
        api.emulator.intervene("add_deployments", project="shop", count=3)
        page.click("button", f"Restore {snapshot['id']}")
        page.click("button", "Restore", within=("dialog", f"Restore {snapshot['id']}"))
        page.read(f"{snapshot['id']} is restored.")
        page.click("button", f"Delete {snapshot['id']}")
        page.read("No snapshots yet.")
        page.wait("document.activeElement.id === 'panel-title'")

    assert api.deployments().json["items"] == deployments
    assert api.emulator.control.get(f"worlds/{api.emulator.name}/snapshots")["items"] == []


@pytest.mark.parametrize("name", ["history", "requests"])
def test_a_session_is_saved_as_a_scenario_that_passes(
    dashboard: Dashboard, api: HttpWorld, panel: Panel, name: str
):
    operation = api.apply_domains().json["id"]
    api.emulator.intervene("stick_operation", operation=operation)
    api.poll(operation)

    with dashboard(panel(name)) as page:
        page.evaluate(
            "(original => { URL.createObjectURL = (file) => original.call(URL, (window.saved = file)) })"
            "(URL.createObjectURL)"
        )
        page.click("button", "Save as scenario")
        page.read("recorded.yaml is saved: a story of 3 steps.")
        text = page.evaluate("window.saved.text()")

    report = api.emulator.control.run_scenario(text=text)
    assert [step.title for step in report.steps] == [
        "apply_project_domains",
        "intervene stick_operation",
        "poll ${operation_1}",
    ]
    assert report.passed
