"""A click of these tests acts on its element or on nothing, however busy the browser is."""

from __future__ import annotations

import pytest

from tests.browser.chromium import Chromium

_PAGE = """data:text/html,<!doctype html><title>Clicks</title><body style="margin:0">
<button onclick="count.textContent = 1 + Number(count.textContent)">Count</button>
<p id=count style="margin:80px 0">0</p>
<button style="position:absolute;top:0;left:300px" onclick="count.textContent = 'other'">Other</button>
<script>{script}</script>"""
_MOVES_BELOW_THE_POINTER = """
const [button, other] = document.querySelectorAll("button");
addEventListener("mousemove", () => {
  const box = button.getBoundingClientRect();
  Object.assign(other.style, {left: `${box.x}px`, top: `${box.y}px`});
  button.style.marginLeft = "400px";
}, {once: true});"""
_DROPS_THE_FIRST_PRESS = """
for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"])
  addEventListener(kind, event => event.stopImmediatePropagation(), {once: true, capture: true});"""


@pytest.mark.parametrize("script", ["", _MOVES_BELOW_THE_POINTER, _DROPS_THE_FIRST_PRESS])
def test_a_click_acts_once_and_only_on_its_element(chromium: Chromium, script: str):
    with chromium.page(_PAGE.format(script=script)) as page:
        page.click("button", "Count")
        page.wait("count.textContent !== '0'")

        assert page.evaluate("count.textContent") == "1"
