"""axe-core in a page: the rules of accessibility that a machine can check, for WCAG 2.2 A and AA."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

from tests.browser.page import Page
from tests.browser.tab import Scheme

#: What is checked: the standard's rules, and the habits axe calls best practice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
#: The rules among them whose answer lies in colours and sizes, and not in the document.
SEEN = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]
#: What is asked where. None of our colours depends on the width, and a phone leaves out nothing that can
#: be used: there all is asked, and on a wide window what colours and sizes decide. In between, only what
#: is clipped or too wide.
_LOOKS: tuple[tuple[int, Scheme, Literal["seen", "nothing", "all"]], ...] = (
    (1440, "light", "seen"),
    (1024, "light", "nothing"),
    (400, "dark", "all"),
)
#: A table that is wider than the box it scrolls in: on no window is a part of it out of sight.
_CLIPPED = """[...document.querySelectorAll('.table-box')]
  .filter(box => box.scrollWidth > box.clientWidth).map(box => box.ariaLabel)"""


@cache
def _axe() -> str:
    return (Path(__file__).parent / "vendor" / "axe.js").read_text(encoding="utf-8")


def violations(page: Page, *, only_seen: bool = False, within: str = "html") -> list[str]:
    """Return a line for each thing on the page that breaks a rule: rule, place, what is wrong.

    `only_seen` asks no rule but those that another window or scheme can break. `within` is the selector
    of the part that is looked at.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"{_axe()}; void 0")
    rules = {"type": "rule", "values": SEEN} if only_seen else {"type": "tag", "values": TAGS}
    # What it would load ahead are style sheets, for rules that are not among ours.
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    found = page.evaluate(
        f"axe.run({json.dumps(within)}, {json.dumps(options)}).then(({{violations}}) => violations.flatMap("
        "({id, nodes}) => nodes.map(({target, any, all, none}) => [id, target.flat(3).join(' '),"
        " ...[...any, ...all, ...none].map(({message}) => message)].join(' | '))))"
    )
    assert isinstance(found, list)
    return found


def assert_accessible(page: Page, *, within: str = "html") -> None:
    """Expect a page that breaks no rule: light and dark, on wide and narrow windows and a phone."""
    wrong = []
    for width, scheme, asked in _LOOKS:
        page.look(width, scheme)
        if asked != "nothing":
            found = violations(page, only_seen=asked == "seen", within=within)
            wrong += [f"{width} {scheme}: {line}" for line in found]
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wrong.append(f"{width} {scheme}: the page is wider than its window")
        wrong += [f"{width}: {name} is clipped" for name in page.evaluate(_CLIPPED)]
    assert "\n".join(wrong) == ""
    assert page.visit.complaints == []
