"""The frame of the dashboard in a real browser: worlds, clock, connection, colors and keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hosting_emulator_cli.main import cli
from tests.browser.chromium import Chromium
from tests.browser.dashboard import Dashboard
from tests.browser.opened import assert_ours
from tests.support.http_world import HttpWorld

Panel = Callable[[str], str]


def test_the_dashboard_requests_no_other_host_and_logs_no_error(
    chromium: Chromium, origin: str, panel: Panel
):
    with chromium.page(panel("connect"), network=True) as page:
        page.read("Live")
        assert_ours(page, origin)


def test_the_start_panel_shows_the_name_and_base_url_of_the_world(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    with dashboard(panel("")) as page:
        page.read(api.emulator.name)
        page.read(api.emulator.base_url)


def test_choosing_a_world_switches_the_panel_to_it(
    dashboard: Dashboard, api: HttpWorld, origin: str
):
    with dashboard(f"{origin}/_emulator#/projects") as page:
        page.choose("World", api.emulator.name)
        page.wait(f"location.hash === '#/projects?world={api.emulator.name}'")
        page.click("button", "shop")
        page.read(api.emulator.projects["shop"])


def test_the_dashboard_reports_a_missing_world_and_links_to_the_default_world(
    dashboard: Dashboard, origin: str
):
    with dashboard(f"{origin}/_emulator#/requests?world=nowhere") as page:
        page.read("There is no world nowhere")
        page.click("link", "Go to the default world")
        page.find("heading", "Requests")


def test_the_world_picker_follows_created_and_deleted_worlds(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    names = "[...document.querySelector('.picker select').options].map(option => option.value)"
    with dashboard(panel("requests")) as page:
        page.read("Live")
        forked = api.emulator.fork()
        page.wait(f"{names}.includes('{forked.name}')")
        forked.delete()
        page.wait(f"!{names}.includes('{forked.name}')")


def test_the_dashboard_reports_the_deletion_of_the_shown_world(
    dashboard: Dashboard, api: HttpWorld, panel: Panel, origin: str
):
    forked = api.emulator.fork()
    with dashboard(f"{origin}/_emulator#/requests?world={forked.name}") as page:
        page.read("Live")
        forked.delete()
        page.read(f"There is no world {forked.name}")
        assert "Emulator stopped" not in page.text()
        page.click("link", "Go to the default world")
        page.read("Live")


def test_the_menu_of_worlds_creates_forks_resets_and_deletes_worlds(
    dashboard: Dashboard, api: HttpWorld, panel: Panel
):
    name = f"{api.emulator.name}-made"
    control = api.emulator.control
    with dashboard(panel("projects")) as page:
        page.click("button", "Worlds")
        page.fill("textbox", "Name", name)
        page.choose("Clock", "frozen")
        page.choose("Scenario", "stuck-operation")
        page.click("button", "Create")
        page.wait(f"location.hash === '#/requests?world={name}'")
        page.read("World " + name + " was created.")
        world = control.world(name)
        assert world.clock.state.mode == "frozen"
        HttpWorld(world).dns()
        page.find("link", "1 200 Get DNS")
        page.click("button", "Worlds")
        assert page.find("link", "Export")
        page.click("button", "Reset")
        page.click("button", "Reset", within=("dialog", f"Reset {name}"))
        page.read("No request yet")
        page.click("button", "Worlds")
        page.click("button", "Fork")
        page.read(f"is a copy of {name}.")
        page.wait(f"!location.hash.includes('{name}')")
        fork = page.evaluate("/World (\\S+) is a copy/.exec(document.body.innerText)[1]")
        for _ in range(2):
            page.click("button", "Worlds")
            page.click("button", "Delete")
            page.click("button", "Delete", within=("dialog", "Delete"))
            page.wait("location.hash === '#/requests'")
            page.evaluate(f"location.hash = '#/requests?world={name}', void 0")
            page.read(name)

    assert {fork, name}.isdisjoint({row["name"] for row in control.get("/worlds")["items"]})


def test_the_menu_of_worlds_imports_an_exported_state(
    dashboard: Dashboard, api: HttpWorld, panel: Panel, tmp_path: Path
):
    file = tmp_path / "kept.json"
    file.write_text(json.dumps(api.emulator.export()), encoding="utf-8")
    api.emulator.intervene("add_deployments", project="shop", count=3)
    with dashboard(panel("projects")) as page:
        page.click("button", "Worlds")
        page.find("button", "Import")
        file_input = page.ask(
            "Runtime.evaluate", expression="document.querySelector('[type=file]')"
        )
        page.ask(
            "DOM.setFileInputFiles", files=[str(file)], objectId=file_input["result"]["objectId"]
        )
        page.click("button", "Import", within=("dialog", "Import a state"))
        page.read(f"World {api.emulator.name} now has the state of kept.json.")

    assert api.emulator.summary.counts["deployments"] == len(
        json.loads(file.read_text(encoding="utf-8"))["tables"]["deployments"]
    )


def test_the_clock_in_the_bar_follows_the_world(dashboard: Dashboard, api: HttpWorld, panel: Panel):
    with dashboard(panel("problems")) as page:
        page.read("Live")
        api.emulator.clock.advance_to("2031-05-06T07:08:09Z")
        page.read("2031-05-06 07:08:09 frozen")


def test_a_keyboard_shortcut_opens_a_panel_and_focuses_its_heading(
    dashboard: Dashboard, panel: Panel
):
    with dashboard(panel("connect")) as page:
        page.find("heading", "Connect")
        page.press("g", "p")
        page.find("heading", "Projects")
        page.wait("document.activeElement.textContent === 'Projects'")

        page.press("?")
        page.find("dialog", "Keys")
        page.press("Escape")
        page.wait("!document.querySelector('dialog[open]')")


def test_keyboard_shortcuts_type_letters_inside_a_field(dashboard: Dashboard, panel: Panel):
    with dashboard(panel("requests")) as page:
        page.find("heading", "Requests")
        page.press("/")
        page.press("g", "p")
        page.wait("document.activeElement.value === 'gp'")


def test_skip_to_content_focuses_the_panel(dashboard: Dashboard, panel: Panel):
    with dashboard(panel("connect")) as page:
        page.find("heading", "Connect")
        page.evaluate(
            "document.body.tabIndex = -1, document.body.focus(), void 0"
        )  # the initial focus
        page.evaluate("document.body.removeAttribute('tabindex')")
        page.press("Tab")
        page.wait("document.activeElement.textContent === 'Skip to content'")
        page.press("Enter")
        page.wait("document.activeElement.id === 'panel-title'")


def test_the_dashboard_remembers_the_chosen_colors(chromium: Chromium, panel: Panel):
    with chromium.page(panel("connect")) as page:
        page.click("button", "Colors: system")
        page.click("button", "Colors: light")
        page.wait("getComputedStyle(document.body).backgroundColor === 'rgb(16, 19, 26)'")
        page.go("about:blank")
        page.go(panel("projects"))
        page.click("button", "Colors: dark")
        page.wait("!document.documentElement.dataset.theme")


@pytest.mark.parametrize("fork_count", [2, pytest.param(7, marks=pytest.mark.torture)])
def test_pages_of_different_worlds_share_one_event_stream(
    chromium: Chromium, api: HttpWorld, panel: Panel, fork_count: int
):
    """A browser opens six connections to one host: separate streams would block the seventh page."""
    forks = [api.emulator.fork() for _ in range(fork_count)]

    def streams_of_both_worlds() -> tuple[bool, list[str]]:
        streams = [url for url in page.visit.requests if re.search(r"/events(\?|$)", url)]
        names = (forks[-1].name, api.emulator.name)
        return any(all(name in url for name in names) for url in streams), streams

    with chromium.page(panel("requests"), network=True) as page:
        page.read("Live")
        for fork in forks:
            url = panel("requests").replace(f"={api.emulator.name}", f"={fork.name}")
            page.open_beside(url, "Requests - hosting-emulator")
        api.dns()
        page.find("link", "1 200 Get DNS")
        page.until(
            "one stream of the last world and the first", lambda: streams_of_both_worlds()[0]
        )
        _, streams = streams_of_both_worlds()

    assert all("/_emulator/events?" in url for url in streams)


def test_the_shell_command_exports_this_emulator_and_world(
    dashboard: Dashboard, api: HttpWorld, panel: Panel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("HOSTING_EMULATOR_URL", raising=False)
    with dashboard(panel("connect")) as page:
        page.read("sets the same values as environment variables")
        [line] = re.findall(r"\$\(hosting-emulator ([^)]*)\)", page.text())

    result = CliRunner().invoke(cli, line.split())

    assert f"HOSTING_BASE_URL={api.emulator.base_url}" in result.output


def test_the_dashboard_without_scripts_shows_the_base_url(
    chromium: Chromium, api: HttpWorld, origin: str
):
    with chromium.page("about:blank") as page:
        page.ask("Emulation.setScriptExecutionDisabled", value=True)
        page.go(f"{origin}/_emulator")
        text = page.ask("DOM.getDocument")  # the document exists although no script runs
        html = page.ask("DOM.getOuterHTML", nodeId=text["root"]["nodeId"])["outerHTML"]

    assert "The emulator is running" in html
    assert api.emulator.base_url in html
