"""A headless Chromium, driven over its DevTools protocol: opens pages and reports what happened.

Only names of this machine are resolved, so a request of a page to another host fails and is seen.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.browser.page import Page
from tests.browser.tab import Scheme, Tab, Visit

_PATIENCE_S = 30
#: What the browser prepares in the background: two pages of its address bar for each window, and a
#: spare process. They cost more than a page of ours.
_UNWANTED = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess")
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    f"--disable-features={','.join(_UNWANTED)}",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
#: Reads a page once it is drawn: a page of modules is not drawn yet when it has just loaded.
_QUESTIONS = """(async () => {
  const end = performance.now() + 5000;
  const there = () => !document.querySelector("script[type=module]")
    || document.querySelector("h1") && !document.querySelector(".loading");
  while (!there() && performance.now() < end) await new Promise(done => setTimeout(done, 20));
  return {
    title: document.title,
    text: document.body.innerText,
    links: [...document.links].map(link => link.href),
    too_wide: document.documentElement.scrollWidth > window.innerWidth,
  };
})()"""


def program() -> str | None:
    """Return the path of the installed Chromium, or None. Nothing is downloaded."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def needed_program() -> str:
    """Return the path of Chromium. Skips the test without it; in CI the test fails instead."""
    path = program()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI must have chromium: .ci/run installs it")
        pytest.skip("chromium is not installed")
    return path


class Chromium:
    """A running browser. Use it as a context manager, which ends the process.

    `options` are further command line options; a later option overrides an earlier one.
    """

    def __init__(self, program: str, profile: Path, *options: str) -> None:
        self._profile = profile
        # Root may not use the sandbox; the pages are our own.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._process = subprocess.Popen(
            [program, *_OPTIONS, *sandbox, *options, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._address = self._wait_for_address()

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(_PATIENCE_S)

    def _wait_for_address(self) -> str:
        port_file = self._profile / "DevToolsActivePort"
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end and self._process.poll() is None:
            lines = port_file.read_text().splitlines() if port_file.exists() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.02)  # real time: nothing else shows that a browser is ready
        raise AssertionError("chromium did not start")

    def visit(
        self, url: str, *, width: int = 1280, scheme: Scheme = "light", picture: bool = False
    ) -> Visit:
        """Open a page in a new tab, `width` CSS pixels wide, and return what happened."""
        return asyncio.run(asyncio.wait_for(self._visit(url, width, scheme, picture), _PATIENCE_S))

    def run(self, url: str, script: str) -> Any:
        """Open a page, evaluate a JavaScript expression in it and return its awaited value."""
        return asyncio.run(asyncio.wait_for(self._run(url, script), _PATIENCE_S))

    @contextmanager
    def page(
        self, url: str, *, width: int = 1280, scheme: Scheme = "light", network: bool = False
    ) -> Iterator[Page]:
        """Open a page and keep it open, to use it as a user does.

        With `network` its visit records the requested addresses and the status of the page.
        """
        with asyncio.Runner() as runner:
            tabs = self._tab(width, scheme, network=network)
            tab = runner.run(tabs.__aenter__())
            try:
                page = Page(runner, tab)
                page.go(url)
                yield page
            finally:
                runner.run(tabs.__aexit__(None, None, None))

    @asynccontextmanager
    async def _tab(self, width: int, scheme: str, *, network: bool) -> AsyncIterator[Tab]:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self._address, max_msg_size=0) as socket,
        ):
            tab = Tab(socket, network=network)
            await tab.open(width, scheme)
            try:
                yield tab
            finally:
                await tab.close()

    async def _run(self, url: str, script: str) -> Any:
        async with self._tab(1280, "light", network=False) as tab:
            await tab.go(url)
            return await tab.evaluate(script)

    async def _visit(self, url: str, width: int, scheme: str, picture: bool) -> Visit:
        async with self._tab(width, scheme, network=True) as tab:
            await tab.go(url)
            visit = tab.visit
            for name, value in (await tab.evaluate(_QUESTIONS)).items():
                setattr(visit, name, value)
            if picture:
                shot = await tab.ask("Page.captureScreenshot", captureBeyondViewport=True)
                visit.picture = base64.b64decode(shot["data"])
            return visit
