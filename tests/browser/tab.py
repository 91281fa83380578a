"""One tab of a browser over its DevTools protocol: commands, their answers, and what happened.

Each tab has a browser context of its own, so no tab shares storage or a shared worker with another.
What its shared workers ask for is noted with the tab's own requests.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp

Scheme = Literal["light", "dark"]

_DOMAINS = ("Page", "Log", "Runtime", "Audits")
HEIGHT = 900


@dataclass(slots=True)
class Visit:
    """What opening one page came to. `status` and `requests` are of a tab that watches its network."""

    watched: bool
    status: int = 0
    title: str = ""
    text: str = ""
    links: list[str] = field(default_factory=list)
    too_wide: bool = False
    complaints: list[str] = field(default_factory=list)
    picture: bytes = b""
    _requests: list[str] = field(default_factory=list)

    @property
    def requests(self) -> list[str]:
        """The addresses that were asked for."""
        assert self.watched, "this tab does not watch its network"
        return self._requests

    def note(self, event: Mapping[str, Any]) -> None:
        """Take in one event of the DevTools protocol."""
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self._requests.append(params["request"]["url"])
        elif method == "Network.responseReceived" and params["type"] == "Document":
            self.status = params["response"]["status"]
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            self.complaints.append(f"{entry['text']} {entry.get('url', '')}".strip())
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", "")
            self.complaints.append(f"{details['text']} {thrown}".strip())
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            said = [str(one.get("value", one.get("description"))) for one in params["args"]]
            self.complaints.append(f"console.{params['type']}: {' '.join(said)}")
        elif method == "Audits.issueAdded":
            issue = params["issue"]
            if issue["code"] == "ContentSecurityPolicyIssue":
                self.complaints.append(json.dumps(issue["details"]))


class Tab:
    """Commands and their answers, with every event on the way noted in `visit`.

    To watch its network, with half a dozen events for each request, costs a fifth of all that a tab does.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, *, network: bool) -> None:
        self.visit = Visit(watched=network)
        self._domains = (*_DOMAINS, "Network") if network else _DOMAINS
        self._socket = socket
        self._numbers = itertools.count(1)
        self._session: dict[str, str] = {}
        self._context = ""
        self.target = ""

    async def open(self, width: int, scheme: str) -> None:
        """Make the tab, `width` CSS pixels wide, for people who want a light or a dark page."""
        # The browser's own session tells of shared workers, which belong to no tab.
        await self.ask(
            "Target.setAutoAttach",
            autoAttach=True,
            waitForDebuggerOnStart=False,
            flatten=True,
            filter=[{"type": "shared_worker"}],
        )
        self._context = (await self.ask("Target.createBrowserContext"))["browserContextId"]
        await self.ask(
            "Browser.grantPermissions",
            permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
            browserContextId=self._context,
        )
        made = await self.ask(
            "Target.createTarget", url="about:blank", browserContextId=self._context
        )
        self.target = made["targetId"]
        found = await self.ask("Target.attachToTarget", targetId=self.target, flatten=True)
        self._session = {"sessionId": found["sessionId"]}
        for domain in self._domains:
            await self.ask(f"{domain}.enable")
        await self.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.look(width, scheme)

    async def look(self, width: int, scheme: str) -> None:
        """Change the window's width and the scheme that its user prefers."""
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=HEIGHT,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        # What fades in would be looked at half-way.
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        await self.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": name, "value": value} for name, value in features.items()],
        )

    async def go(self, url: str) -> None:
        """Open an address and wait until all that it names is loaded."""
        await self.ask("Page.navigate", url=url)
        await self._receive(lambda message: message.get("method") == "Page.loadEventFired")

    async def evaluate(self, expression: str) -> Any:
        """Return what an expression of the page's, or its promise, comes to."""
        answer = await self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def close(self) -> None:
        """Close the tab and forget all that it kept."""
        self._session = {}
        await self.ask("Target.disposeBrowserContext", browserContextId=self._context)

    async def open_beside(self, url: str) -> None:
        """Open an address in another window, with the same storage and the same shared workers."""
        where = {"browserContextId": self._context, "newWindow": True}
        await self._ask("Target.createTarget", {"url": url, **where}, {})

    async def titles(self) -> list[str]:
        """Return the titles of all windows that share this tab's storage."""
        found = (await self._ask("Target.getTargets", {}, {}))["targetInfos"]
        mine = [one for one in found if one.get("browserContextId") == self._context]
        return [one["title"] for one in mine if one["type"] == "page"]

    async def ask(self, method: str, **params: Any) -> Any:
        """Give a command and return its answer. An AssertionError says why it was refused."""
        return await self._ask(method, params, self._session)

    async def _ask(self, method: str, params: Mapping[str, Any], session: dict[str, str]) -> Any:
        number = await self._send(method, params, session)
        answer = await self._receive(lambda message: message.get("id") == number)
        assert "result" in answer, f"{method}: {answer}"
        return answer["result"]

    async def watch(self, seconds: float) -> None:
        """Take in what happens, for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                await asyncio.wait_for(self._receive(lambda _: True), left)
            except TimeoutError:
                return

    async def _send(self, method: str, params: Mapping[str, Any], session: dict[str, str]) -> int:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params, **session})
        return number

    async def _receive(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            received = await self._socket.receive()
            assert received.type is aiohttp.WSMsgType.TEXT, f"the browser is gone: {received}"
            message = json.loads(received.data)
            self.visit.note(message)
            if message.get("method") == "Target.attachedToTarget":
                await self._attend(message["params"])
            if wanted(message):
                found: dict[str, Any] = message
                return found

    async def _attend(self, params: Mapping[str, Any]) -> None:
        """Listen to a shared worker of this tab; the answers are of no interest."""
        info = params["targetInfo"]
        if info["type"] == "shared_worker" and info.get("browserContextId") == self._context:
            for domain in {"Network", "Log", "Runtime"}.intersection(self._domains):
                await self._send(f"{domain}.enable", {}, {"sessionId": params["sessionId"]})
