"""One tab of a browser over its DevTools protocol: commands, their results, and events.

Each tab has a browser context of its own, so no tab shares storage or a shared worker with another.
The requests of its shared workers are recorded with its own.
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
    """What happened in one page. Only a tab that watches its network has `status` and `requests`."""

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
        """The requested addresses."""
        assert self.watched, "this tab does not watch its network"
        return self._requests

    def note(self, event: Mapping[str, Any]) -> None:
        """Record one event of the DevTools protocol."""
        method = event.get("method")
        params = event.get("params", {})
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
            words = [
                str(argument.get("value", argument.get("description")))
                for argument in params["args"]
            ]
            self.complaints.append(f"console.{params['type']}: {' '.join(words)}")
        elif method == "Audits.issueAdded":
            issue = params["issue"]
            if issue["code"] == "ContentSecurityPolicyIssue":
                self.complaints.append(json.dumps(issue["details"]))


class Tab:
    """Commands and their results. Every event is recorded in `visit`.

    Watching the network, with half a dozen events for each request, costs a fifth of the tab's time.
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
        """Create the tab, `width` CSS pixels wide, for users who prefer a light or a dark page."""
        # The session of the browser reports shared workers, which belong to no tab.
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
        created = await self.ask(
            "Target.createTarget", url="about:blank", browserContextId=self._context
        )
        self.target = created["targetId"]
        attached = await self.ask("Target.attachToTarget", targetId=self.target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
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
        # Without this, a fading element could be examined halfway.
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        await self.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": name, "value": value} for name, value in features.items()],
        )

    async def go(self, url: str) -> None:
        """Open an address and wait until the page and its resources are loaded."""
        await self.ask("Page.navigate", url=url)
        await self._receive(lambda message: message.get("method") == "Page.loadEventFired")

    async def evaluate(self, expression: str) -> Any:
        """Return the awaited value of a JavaScript expression in the page."""
        response = await self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in response, response["exceptionDetails"]
        return response["result"].get("value")

    async def close(self) -> None:
        """Close the tab and discard its storage."""
        self._session = {}
        await self.ask("Target.disposeBrowserContext", browserContextId=self._context)

    async def open_beside(self, url: str) -> None:
        """Open an address in another window, with the same storage and the same shared workers."""
        params = {"browserContextId": self._context, "newWindow": True}
        await self._ask("Target.createTarget", {"url": url, **params}, {})

    async def titles(self) -> list[str]:
        """Return the titles of all windows that share the storage of this tab."""
        targets = (await self._ask("Target.getTargets", {}, {}))["targetInfos"]
        mine = [target for target in targets if target.get("browserContextId") == self._context]
        return [target["title"] for target in mine if target["type"] == "page"]

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result. Raises AssertionError if it is refused."""
        return await self._ask(method, params, self._session)

    async def _ask(self, method: str, params: Mapping[str, Any], session: dict[str, str]) -> Any:
        number = await self._send(method, params, session)
        response = await self._receive(lambda message: message.get("id") == number)
        assert "result" in response, f"{method}: {response}"
        return response["result"]

    async def watch(self, seconds: float) -> None:
        """Read events for this time."""
        end = time.monotonic() + seconds
        while True:
            remaining_s = end - time.monotonic()
            if remaining_s <= 0:
                return
            try:
                await asyncio.wait_for(self._receive(lambda _: True), remaining_s)
            except TimeoutError:
                return

    async def _send(self, method: str, params: Mapping[str, Any], session: dict[str, str]) -> int:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params, **session})
        return number

    async def _receive(self, is_expected: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            received = await self._socket.receive()
            assert received.type is aiohttp.WSMsgType.TEXT, f"the browser is gone: {received}"
            message = json.loads(received.data)
            self.visit.note(message)
            if message.get("method") == "Target.attachedToTarget":
                await self._attend(message["params"])
            if is_expected(message):
                expected: dict[str, Any] = message
                return expected

    async def _attend(self, params: Mapping[str, Any]) -> None:
        """Listen to a shared worker of this tab; the results of the commands are ignored."""
        info = params["targetInfo"]
        if info["type"] == "shared_worker" and info.get("browserContextId") == self._context:
            for domain in {"Network", "Log", "Runtime"}.intersection(self._domains):
                await self._send(f"{domain}.enable", {}, {"sessionId": params["sessionId"]})
