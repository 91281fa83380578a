"""The open dashboard reports a stop of the emulator and works after a restart without a reload."""

from __future__ import annotations

from contextlib import ExitStack
from urllib.parse import urlsplit

from hosting_emulator.sdk import HostingEmulator
from tests.browser.axe import violations
from tests.browser.chromium import Chromium
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.http_world import HttpWorld

#: The number of loaded panel modules; those of unopened panels load after the first.
_PANELS = """performance.getEntriesByType("resource")
  .filter(({name}) => /panels\\/[a-z-]+\\.js$/.test(name)).length"""
_TIME = "document.querySelector('.bar time').textContent"


def test_an_open_dashboard_survives_a_restart_of_the_emulator_without_a_reload(chromium: Chromium):
    with ExitStack() as stack, ExitStack() as first:
        url = first.enter_context(emulator_in_thread(clock="real")).base_url
        with HostingEmulator.connect(url) as emulator:
            HttpWorld(emulator).dns()
        page = stack.enter_context(chromium.page(f"{url}/_emulator#/requests"))
        page.find("link", "1 200 Get DNS")
        page.read("Live")
        page.wait(f"{_PANELS} >= 20")
        page.evaluate("window.stays = true, void 0")

        first.close()
        page.read("Emulator stopped, reconnecting…")
        before = page.evaluate(_TIME)
        assert violations(page) == []
        page.click("link", "Faults")  # a panel that was not opened before
        page.find("heading", "Faults")
        page.watch(1.2)
        assert page.evaluate(_TIME) == before

        restarted = stack.enter_context(emulator_in_thread(port=urlsplit(url).port))
        emulator = stack.enter_context(HostingEmulator.connect(restarted.base_url))
        page.wait("!document.querySelector('.stopped')")
        page.read("Live")
        page.wait("document.querySelector('.bar .clock').innerText.includes('frozen')")
        page.find("button", "Response lost")
        page.click("link", "Requests")
        page.read("No request yet")
        HttpWorld(emulator).deployments()
        page.find("link", "1 200 List")
        assert page.evaluate("window.stays") is True
