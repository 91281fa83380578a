"""An open page, used as a user uses it: elements are found by role and accessible name.

Both come from the browser's accessibility tree, which screen readers use. A click goes to the visible
middle of an element, so an element that is covered by another cannot be used. Every search waits,
with a limit, until the element appears.
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
#: A browser may silently drop a command about a page that it is leaving. A command that changes nothing
#: is repeated after this time.
_GLANCE_S = 5.0
#: Role and name of an element that contains the element to find.
Place = tuple[str, str]
#: Whether an element is enabled and visible.
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
#: Lets a press act only on the element that lies at this position now. A page that moves the element
#: meanwhile gets nothing of the press. `pressed` becomes true when the click arrives.
_GUARD = """function (x, y) {
  const top = document.elementFromPoint(x, y);
  const guard = {pressed: false};
  const onlyHere = event => {
    const {target} = event;
    const here = this.contains(target) || target === top && top.isConnected
      || [...(this.labels ?? [])].some(label => label.contains(target));
    if (event.type === "click" && here) guard.pressed = true;
    if (here || !event.isTrusted || event.detail === 0 && event.type === "click") return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
  for (const kind of kinds) addEventListener(kind, onlyHere, true);
  guard.end = () => kinds.forEach(kind => removeEventListener(kind, onlyHere, true));
  window.pressGuard = guard;
}"""
#: Whether the click arrived, or the page was left. A dropped press may still be on its way for a while.
_PRESSED = """(async () => {
  const guard = window.pressGuard;
  if (!guard) return true;
  const end = performance.now() + 1000;
  while (!guard.pressed && performance.now() < end) await new Promise(done => setTimeout(done, 20));
  guard.end();
  delete window.pressGuard;
  return guard.pressed;
})()"""
_CHOOSE = """function (label) {
  const tidy = text => text.replace(/\\s+/g, " ").trim();
  const choice = [...this.options].find(option => tidy(option.text) === label)
    ?? [...this.options].find(option => tidy(option.text).startsWith(label));
  if (!choice) return [...this.options].map(option => tidy(option.text));
  this.value = choice.value;
  this.dispatchEvent(new Event("input", {bubbles: true}));
  this.dispatchEvent(new Event("change", {bubbles: true}));
  return null;
}"""
#: The element that has the focus; null if it is the element itself.
_FOCUS = """function () {
  return document.activeElement === this ? null : document.activeElement.localName;
}"""
_CLEAR = "function () { this.focus(); this.select?.(); }"


class Elsewhere(AssertionError):
    """The page was left or drawn again during a command."""


class Page:
    """A page in a tab of its own. `visit` records its requests and complaints."""

    def __init__(self, runner: asyncio.Runner, tab: Tab) -> None:
        self._runner = runner
        self._tab = tab

    @property
    def visit(self) -> Visit:
        """What happened so far, without the events that wait in the socket; `watch` reads them."""
        return self._tab.visit

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command of the DevTools protocol and return its result."""
        return self._runner.run(asyncio.wait_for(self._tab.ask(method, **params), 60))

    def evaluate(self, expression: str) -> Any:
        """Return the awaited value of a JavaScript expression in the page."""
        return self._runner.run(asyncio.wait_for(self._tab.evaluate(expression), 60))

    def go(self, url: str) -> None:
        """Open an address and wait until it is loaded."""
        self._runner.run(asyncio.wait_for(self._tab.go(url), 30))

    def open_beside(self, url: str, title: str) -> None:
        """Open an address in another window of the same user, and wait until it has its title."""
        before = self._runner.run(self._tab.titles()).count(title)
        self._runner.run(self._tab.open_beside(url))
        self.until(title, lambda: self._runner.run(self._tab.titles()).count(title) > before)

    def look(self, width: int, scheme: str) -> None:
        """Change the window's width and the scheme that its user prefers."""
        self._runner.run(self._tab.look(width, scheme))
        # Listeners get the change with the next frame; on a busy page with the one after it.
        self.evaluate(
            f"new Promise(painted => {{ const query = matchMedia('(prefers-color-scheme: {scheme})');"
            " const look = () => requestAnimationFrame(() => query.matches"
            " ? requestAnimationFrame(() => setTimeout(painted)) : look()); look(); })"
        )

    def watch(self, seconds: float = 0.2) -> None:
        """Read events for this time."""
        self._runner.run(self._tab.watch(seconds))

    def picture(self) -> bytes:
        """Return a PNG of the visible part of the page."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])

    # --- looking --------------------------------------------------------------------------------

    def text(self) -> str:
        """Return the visible text of the page, with single spaces."""
        return " ".join(str(self.evaluate("document.body.innerText")).split())

    def read(self, words: str) -> None:
        """Wait until the page shows a text."""
        text = 'document.body.innerText.replace(/\\s+/g, " ")'
        self.wait(f"{text}.includes({json.dumps(words)})")

    def names(self, role: str) -> list[str]:
        """Return the names of all elements with a role."""
        return [name for name, _ in self._all(role)]

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression in the page is true."""
        params = {"expression": f"Boolean({expression})", "returnByValue": True}
        self.until(
            expression, lambda: bool(self._value_of(self._glance("Runtime.evaluate", **params)))
        )

    def find(self, role: str, name: str, *, nth: int = 0, within: Place | None = None) -> int:
        """Return the id of a usable element with this name, or with a name that begins with it."""
        nodes: list[int] = []

        def is_there() -> bool:
            nodes[:] = self._matching(role, name, within)
            return len(nodes) > nth

        self.until(f"{role} {name!r}", is_there)
        return nodes[nth]

    def gone(self, role: str, name: str) -> None:
        """Wait until no such element is usable."""
        self.until(f"{role} {name!r} to go", lambda: not self.has(role, name))

    def has(self, role: str, name: str) -> bool:
        """Return whether such an element is usable now."""
        nodes: list[int] = []

        def look() -> bool:
            nodes[:] = self._matching(role, name, None)
            return True

        self.until(f"a look at {role} {name!r}", look)
        return bool(nodes)

    # --- acting ---------------------------------------------------------------------------------

    def click(self, role: str, name: str, *, nth: int = 0, within: Place | None = None) -> None:
        """Click the middle of an element with the pointer.

        A busy browser drops a press before it has painted the page, and a page may move the element
        after the search. Such a press changes nothing, and is made again.
        """
        end = time.monotonic() + PATIENCE_S
        while True:
            obstacle = self._press(self.find(role, name, nth=nth, within=within))
            if obstacle is None:
                return
            assert time.monotonic() < end, f"{role} {name!r}: {obstacle}"
            self.watch(_POLL_S)

    def _press(self, node: int) -> str | None:
        """Click an element. Return the reason why the click did not reach it, or None."""
        try:
            position = self._on(node, _AT)
            if not position["mine"]:
                return f"it lies below {position['top']}"
            self._on(node, _GUARD, position["x"], position["y"])
        except Elsewhere:
            return "it went away"
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.ask(
                "Input.dispatchMouseEvent",
                type=kind,
                x=position["x"],
                y=position["y"],
                button="none" if kind == "mouseMoved" else "left",
                clickCount=int(kind != "mouseMoved"),
            )
        try:
            response = self._glance(
                "Runtime.evaluate", expression=_PRESSED, awaitPromise=True, returnByValue=True
            )
            arrived = bool(self._value_of(response))
        except Elsewhere:
            return None  # the click left the page
        return None if arrived else "the click did not arrive"

    def point_away(self) -> None:
        """Move the pointer to the corner of the page, away from all elements."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)

    def fill(self, role: str, name: str, text: str, *, within: Place | None = None) -> None:
        """Replace the content of a field."""

        def cleared() -> bool:
            self._on(self.find(role, name, within=within), _CLEAR)
            return True

        self.until(f"{role} {name!r} with the focus", cleared)
        self.ask("Input.insertText", text=text)

    def choose(self, name: str, option: str, *, within: Place | None = None) -> None:
        """Choose the option of a list whose text is, or begins with, `option`."""
        choices: list[Any] = []

        def is_chosen() -> bool:
            choices[:] = [self._on(self.find("combobox", name, within=within), _CHOOSE, option)]
            return choices[0] is None

        try:
            self.until(f"the choice {option!r} of {name!r}", is_chosen)
        except AssertionError as error:
            raise AssertionError(f"{error}\nchoices: {choices}") from None

    def press(self, *keys: str) -> None:
        """Press keys in order: letters, or names such as `Escape`, `Tab` and `Enter`."""
        for key in keys:
            params: dict[str, Any] = {"text": key} if len(key) == 1 else _NAMED_KEYS.get(key, {})
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **params)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, **params)

    def tab_to(self, role: str, name: str, *, most: int = 60) -> None:
        """Press Tab until an element has the focus, at most `most` times."""
        node = self.ask("DOM.resolveNode", backendNodeId=self.find(role, name))
        params = {"objectId": node["object"]["objectId"], "functionDeclaration": _FOCUS}
        passed = []
        for _ in range(most):
            self.press("Tab")
            response = self.ask("Runtime.callFunctionOn", **params, returnByValue=True)
            focus = self._value_of(response)
            if focus is None:
                return
            passed.append(focus)
        raise AssertionError(f"{role} {name!r} is not reached by the keyboard: {passed}")

    # --- below ----------------------------------------------------------------------------------

    def until(self, description: str, is_there: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                if is_there():
                    return
            except Elsewhere:
                pass
            assert time.monotonic() < end, f"never there: {description}\n{self.text()[:3000]}"
            self.watch(_POLL_S)

    def _matching(self, role: str, name: str, within: Place | None) -> list[int]:
        inside = self.find(*within) if within else 0
        candidates = [(label, node) for label, node in self._all(role, inside)]
        exact = [node for label, node in candidates if label == name]
        prefixed = [node for label, node in candidates if label != name and label.startswith(name)]
        return [node for node in (*exact, *prefixed) if self._usable(node)]

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
        object_id = self._glance("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        response = self._glance(
            "Runtime.callFunctionOn",
            objectId=object_id,
            functionDeclaration=function,
            arguments=[{"value": value} for value in arguments],
            returnByValue=True,
        )
        return self._value_of(response)

    def _glance(self, method: str, **params: Any) -> Any:
        """Send a command that may be repeated. Raises Elsewhere if it has no result."""
        try:
            return self._runner.run(asyncio.wait_for(self._tab.ask(method, **params), _GLANCE_S))
        except (AssertionError, TimeoutError) as error:
            raise Elsewhere(f"{method}: {error}") from error

    @staticmethod
    def _value_of(response: Any) -> Any:
        if "exceptionDetails" in response:
            raise Elsewhere(response["exceptionDetails"])
        return response["result"].get("value")


_NAMED_KEYS: dict[str, dict[str, Any]] = {
    "Enter": {"code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Escape": {"code": "Escape", "windowsVirtualKeyCode": 27},
    "Tab": {"code": "Tab", "windowsVirtualKeyCode": 9},
}
