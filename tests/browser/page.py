"""An open page, used as a user uses it: things are found by the role and name that are read out.

Both are the browser's own, from the tree that it gives to screen readers. What is pressed is pressed
with a pointer at the middle of what is seen, so something that lies below another cannot be used.
Every look waits, bounded, until what it looks for is there.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable
from typing import Any

from tests.browser.tab import Tab, Visit

PATIENCE_S = 40.0
_POLL_S = 0.05
#: A browser drops a question about a page that it is just leaving, at times without a word. One that
#: changes nothing is asked again after so long.
_GLANCE_S = 5.0
#: Role and name of something that holds what is looked for.
Place = tuple[str, str]
#: Roles whose things can be switched off, or not be there for the eye.
_USABLE = """function () {
  const it = this.nodeType === 1 ? this : this.parentElement;
  return !it.disabled && it.checkVisibility({visibilityProperty: true});
}"""
_AT = """function () {
  this.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
  const box = this.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const top = document.elementFromPoint(x, y);
  const mine = this.contains(top) || top?.contains(this) || [...(this.labels ?? [])].includes(top);
  return {x, y, mine, top: top?.outerHTML.slice(0, 200)};
}"""
_CHOOSE = """function (wanted) {
  const tidy = text => text.replace(/\\s+/g, " ").trim();
  const found = [...this.options].find(one => tidy(one.text) === wanted)
    ?? [...this.options].find(one => tidy(one.text).startsWith(wanted));
  if (!found) return [...this.options].map(one => tidy(one.text));
  this.value = found.value;
  this.dispatchEvent(new Event("input", {bubbles: true}));
  this.dispatchEvent(new Event("change", {bubbles: true}));
  return null;
}"""
#: What has the focus; null where it is the thing itself.
_FOCUS = """function () {
  return document.activeElement === this ? null : document.activeElement.localName;
}"""
_CLEAR = "function () { this.focus(); this.select?.(); }"


class Elsewhere(AssertionError):
    """The page went away, or was drawn anew, while it was looked at."""


class Page:
    """A page in a tab of its own. `visit` says what it asked for and what it complained of."""

    def __init__(self, runner: asyncio.Runner, tab: Tab) -> None:
        self._runner = runner
        self._tab = tab

    @property
    def visit(self) -> Visit:
        """What happened so far, events that wait in the socket left out; `watch` takes them in."""
        return self._tab.visit

    def ask(self, method: str, **params: Any) -> Any:
        """Give a command of the DevTools protocol and return its answer."""
        return self._runner.run(asyncio.wait_for(self._tab.ask(method, **params), 60))

    def evaluate(self, expression: str) -> Any:
        """Return what an expression of the page's, or its promise, comes to."""
        return self._runner.run(asyncio.wait_for(self._tab.evaluate(expression), 60))

    def go(self, url: str) -> None:
        """Open an address and wait until it is loaded."""
        self._runner.run(asyncio.wait_for(self._tab.go(url), 30))

    def open_beside(self, url: str, title: str) -> None:
        """Open an address in one more window of the same user, and wait until it has its title."""
        before = self._runner.run(self._tab.titles()).count(title)
        self._runner.run(self._tab.open_beside(url))
        self.until(title, lambda: self._runner.run(self._tab.titles()).count(title) > before)

    def look(self, width: int, scheme: str) -> None:
        """Change the window's width and the scheme that its user prefers."""
        self._runner.run(self._tab.look(width, scheme))
        # What listens for a change hears of it with a frame, of a busy page with the one after the next.
        self.evaluate(
            f"new Promise(painted => {{ const wanted = matchMedia('(prefers-color-scheme: {scheme})');"
            " const look = () => requestAnimationFrame(() => wanted.matches"
            " ? requestAnimationFrame(() => setTimeout(painted)) : look()); look(); })"
        )

    def watch(self, seconds: float = 0.2) -> None:
        """Take in what happens, for so long."""
        self._runner.run(self._tab.watch(seconds))

    def picture(self) -> bytes:
        """Return what is seen of the page, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])

    # --- looking --------------------------------------------------------------------------------

    def text(self) -> str:
        """Return what can be read on the page, with single spaces."""
        return " ".join(str(self.evaluate("document.body.innerText")).split())

    def read(self, words: str) -> None:
        """Wait until the words stand on the page."""
        text = 'document.body.innerText.replace(/\\s+/g, " ")'
        self.wait(f"{text}.includes({json.dumps(words)})")

    def names(self, role: str) -> list[str]:
        """Return the names of all things of a role."""
        return [name for name, _ in self._all(role)]

    def wait(self, expression: str) -> None:
        """Wait until an expression of the page's is true."""
        asked = {"expression": f"Boolean({expression})", "returnByValue": True}
        self.until(expression, lambda: bool(self._shown(self._glance("Runtime.evaluate", **asked))))

    def find(self, role: str, name: str, *, nth: int = 0, within: Place | None = None) -> int:
        """Return the id of a thing that can be used: of this name, or whose name begins with it."""
        found: list[int] = []

        def there() -> bool:
            found[:] = self._matching(role, name, within)
            return len(found) > nth

        self.until(f"{role} {name!r}", there)
        return found[nth]

    def gone(self, role: str, name: str) -> None:
        """Wait until no such thing can be used."""
        self.until(f"{role} {name!r} to go", lambda: not self.has(role, name))

    def has(self, role: str, name: str) -> bool:
        """Return whether such a thing can be used right now."""
        found: list[int] = []

        def asked() -> bool:
            found[:] = self._matching(role, name, None)
            return True

        self.until(f"an answer about {role} {name!r}", asked)
        return bool(found)

    # --- acting ---------------------------------------------------------------------------------

    def click(self, role: str, name: str, *, nth: int = 0, within: Place | None = None) -> None:
        """Press a thing with the pointer, in its middle."""
        end = time.monotonic() + PATIENCE_S
        while True:
            node = self.find(role, name, nth=nth, within=within)
            try:
                at = self._on(node, _AT)
            except Elsewhere:
                at = {"mine": False, "top": "it went away"}
            if at["mine"]:
                break
            assert time.monotonic() < end, f"{role} {name!r} lies below {at['top']}"
            self.watch(_POLL_S)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.ask(
                "Input.dispatchMouseEvent",
                type=kind,
                x=at["x"],
                y=at["y"],
                button="none" if kind == "mouseMoved" else "left",
                clickCount=int(kind != "mouseMoved"),
            )

    def fill(self, role: str, name: str, text: str, *, within: Place | None = None) -> None:
        """Write into a field, in the place of what it holds."""

        def cleared() -> bool:
            self._on(self.find(role, name, within=within), _CLEAR)
            return True

        self.until(f"{role} {name!r} with the focus", cleared)
        self.ask("Input.insertText", text=text)

    def choose(self, name: str, option: str, *, within: Place | None = None) -> None:
        """Choose from a list of choices by what the choice says, or begins with."""
        left: list[Any] = []

        def there() -> bool:
            left[:] = [self._on(self.find("combobox", name, within=within), _CHOOSE, option)]
            return left[0] is None

        try:
            self.until(f"the choice {option!r} of {name!r}", there)
        except AssertionError as error:
            raise AssertionError(f"{error}\nchoices: {left}") from None

    def press(self, *keys: str) -> None:
        """Press keys one after the other: letters, or names such as `Escape`, `Tab` and `Enter`."""
        for key in keys:
            more: dict[str, Any] = {"text": key} if len(key) == 1 else _NAMED.get(key, {})
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def tab_to(self, role: str, name: str, *, most: int = 60) -> None:
        """Press Tab until a thing has the focus; never more often than `most`."""
        node = self.ask("DOM.resolveNode", backendNodeId=self.find(role, name))
        asked = {"objectId": node["object"]["objectId"], "functionDeclaration": _FOCUS}
        seen = []
        for _ in range(most):
            self.press("Tab")
            answer = self.ask("Runtime.callFunctionOn", **asked, returnByValue=True)
            focus = self._shown(answer)
            if focus is None:
                return
            seen.append(focus)
        raise AssertionError(f"{role} {name!r} is not reached by the keyboard: {seen}")

    # --- below ----------------------------------------------------------------------------------

    def until(self, what: str, there: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                if there():
                    return
            except Elsewhere:
                pass
            assert time.monotonic() < end, f"never there: {what}\n{self.text()[:3000]}"
            self.watch(_POLL_S)

    def _matching(self, role: str, name: str, within: Place | None) -> list[int]:
        inside = self.find(*within) if within else 0
        found = [(known, node) for known, node in self._all(role, inside)]
        same = [node for known, node in found if known == name]
        begun = [node for known, node in found if known != name and known.startswith(name)]
        return [node for node in (*same, *begun) if self._usable(node)]

    def _usable(self, node: int) -> bool:
        try:
            return bool(self._on(node, _USABLE))
        except Elsewhere:
            return False

    def _all(self, role: str, inside: int = 0) -> list[tuple[str, int]]:
        root = inside or self._glance("DOM.getDocument", depth=0)["root"]["backendNodeId"]
        tree = self._glance("Accessibility.queryAXTree", backendNodeId=root, role=role)["nodes"]
        return [
            (" ".join(str(node.get("name", {}).get("value", "")).split()), node["backendDOMNodeId"])
            for node in tree
            if not node["ignored"] and "backendDOMNodeId" in node
        ]

    def _on(self, node: int, function: str, *arguments: Any) -> Any:
        thing = self._glance("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        answer = self._glance(
            "Runtime.callFunctionOn",
            objectId=thing,
            functionDeclaration=function,
            arguments=[{"value": value} for value in arguments],
            returnByValue=True,
        )
        return self._shown(answer)

    def _glance(self, method: str, **params: Any) -> Any:
        """Give a command that may be given again. Elsewhere says that nothing came of it."""
        try:
            return self._runner.run(asyncio.wait_for(self._tab.ask(method, **params), _GLANCE_S))
        except (AssertionError, TimeoutError) as error:
            raise Elsewhere(f"{method}: {error}") from error

    @staticmethod
    def _shown(answer: Any) -> Any:
        if "exceptionDetails" in answer:
            raise Elsewhere(answer["exceptionDetails"])
        return answer["result"].get("value")


_NAMED: dict[str, dict[str, Any]] = {
    "Enter": {"code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Escape": {"code": "Escape", "windowsVirtualKeyCode": 27},
    "Tab": {"code": "Tab", "windowsVirtualKeyCode": 9},
}
