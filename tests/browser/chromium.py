"""A headless Chromium, driven over its DevTools protocol: opens a page and says what happened.

No name is resolved but this machine's, so a page that asks another host is seen, and fails.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import aiohttp

_PATIENCE_S = 30
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
#: What is asked of each page once it is there.
_QUESTIONS = """({
  title: document.title,
  text: document.body.innerText,
  links: [...document.links].map(link => link.href),
  too_wide: document.documentElement.scrollWidth > window.innerWidth,
})"""


@dataclass(slots=True)
class Visit:
    """What opening one page came to."""

    status: int = 0
    title: str = ""
    text: str = ""
    links: list[str] = field(default_factory=list)
    too_wide: bool = False
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    picture: bytes = b""

    def note(self, event: Mapping[str, Any]) -> None:
        """Take in one event of the DevTools protocol."""
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.responseReceived" and params["type"] == "Document":
            self.status = params["response"]["status"]
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{params['type']}")


class Chromium:
    """A running browser. Use it as a context: it is ended by its own process id.

    `options` are further ones of the command line; of two alike the last one counts.
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
        told = self._profile / "DevToolsActivePort"
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end and self._process.poll() is None:
            lines = told.read_text().splitlines() if told.exists() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.02)  # real time: nothing else tells that a browser is ready
        raise AssertionError("chromium did not start")

    def visit(
        self,
        url: str,
        *,
        width: int = 1280,
        scheme: Literal["light", "dark"] = "light",
        picture: bool = False,
    ) -> Visit:
        """Open a page in a new tab, `width` CSS pixels wide, and return what happened."""
        return asyncio.run(asyncio.wait_for(self._visit(url, width, scheme, picture), _PATIENCE_S))

    def run(self, url: str, script: str) -> Any:
        """Open a page, run a script in it (an expression) and return what its promise comes to."""
        return asyncio.run(asyncio.wait_for(self._run(url, script), _PATIENCE_S))

    async def _run(self, url: str, script: str) -> Any:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self._address, max_msg_size=0) as socket,
        ):
            tab = _Tab(socket)
            await tab.open(1280, "light")
            await tab.ask("Page.navigate", url=url)
            await tab.until("Page.loadEventFired")
            answer = await tab.ask(
                "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
            )
            await tab.close()
            assert "exceptionDetails" not in answer, answer["exceptionDetails"]
            return answer["result"].get("value")

    async def _visit(self, url: str, width: int, scheme: str, picture: bool) -> Visit:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self._address, max_msg_size=0) as socket,
        ):
            tab = _Tab(socket)
            await tab.open(width, scheme)
            await tab.ask("Page.navigate", url=url)
            await tab.until("Page.loadEventFired")
            answer = await tab.ask("Runtime.evaluate", expression=_QUESTIONS, returnByValue=True)
            visit = tab.visit
            for name, value in answer["result"]["value"].items():
                setattr(visit, name, value)
            if picture:
                shot = await tab.ask("Page.captureScreenshot", captureBeyondViewport=True)
                visit.picture = base64.b64decode(shot["data"])
            await tab.close()
            return visit


class _Tab:
    """One tab: commands and their answers, with every event on the way noted."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.visit = Visit()
        self._socket = socket
        self._numbers = itertools.count(1)
        self._session: dict[str, str] = {}
        self._target = ""

    async def open(self, width: int, scheme: str) -> None:
        self._target = (await self.ask("Target.createTarget", url="about:blank"))["targetId"]
        found = await self.ask("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = {"sessionId": found["sessionId"]}
        for domain in ("Page", "Network", "Log", "Runtime"):
            await self.ask(f"{domain}.enable")
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        await self.ask("Emulation.setEmulatedMedia", features=[feature])

    async def close(self) -> None:
        self._session = {}
        await self.ask("Target.closeTarget", targetId=self._target)

    async def ask(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": params, **self._session}
        await self._socket.send_json(command)
        answer = await self._receive(lambda message: message.get("id") == number)
        assert "result" in answer, f"{method}: {answer}"
        return answer["result"]

    async def until(self, method: str) -> None:
        await self._receive(lambda message: message.get("method") == method)

    async def _receive(self, wanted: Any) -> Any:
        while True:
            message = json.loads((await self._socket.receive()).data)
            self.visit.note(message)
            if wanted(message):
                return message
