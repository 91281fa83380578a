"""axe-core in a page: the accessibility rules of WCAG 2.2 A and AA that a machine can check."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

from tests.browser.page import Page
from tests.browser.tab import Scheme

#: The checked rules: those of the standard, and those that axe calls best practice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
#: The rules among them that depend on colors and sizes and not on the document.
VISUAL_RULES = [
    "color-contrast",
    "link-in-text-block",
    "target-size",
    "scrollable-region-focusable",
]
#: The width, the color scheme and the scope of each check. No color depends on the width, and a phone
#: shows every control: there all rules are checked, and on a wide window those that colors and sizes
#: decide. In between, only clipped and too wide content is looked for.
_LOOKS: tuple[tuple[int, Scheme, Literal["seen", "nothing", "all"]], ...] = (
    (1440, "light", "seen"),
    (1024, "light", "nothing"),
    (400, "dark", "all"),
)
#: Tables that are wider than the box in which they scroll: no window may hide a part of a table.
_CLIPPED = """[...document.querySelectorAll('.table-box')]
  .filter(box => box.scrollWidth > box.clientWidth).map(box => box.ariaLabel)"""


@cache
def _axe() -> str:
    return (Path(__file__).parent / "vendor" / "axe.js").read_text(encoding="utf-8")


def violations(page: Page, *, only_seen: bool = False, within: str = "html") -> list[str]:
    """Return a line for each violation on the page: rule, element, explanation.

    `only_seen` limits the check to the rules that another window or scheme can break. `within` is the
    selector of the part to check.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"{_axe()}; void 0")
    rules = (
        {"type": "rule", "values": VISUAL_RULES} if only_seen else {"type": "tag", "values": TAGS}
    )
    # Preloading only loads style sheets for rules that are not checked here.
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    lines = page.evaluate(
        f"axe.run({json.dumps(within)}, {json.dumps(options)}).then(({{violations}}) => violations.flatMap("
        "({id, nodes}) => nodes.map(({target, any, all, none}) => [id, target.flat(3).join(' '),"
        " ...[...any, ...all, ...none].map(({message}) => message)].join(' | '))))"
    )
    assert isinstance(lines, list)
    return lines


def assert_accessible(page: Page, *, within: str = "html") -> None:
    """Expect a page without violations: light and dark, on wide and narrow windows and a phone."""
    problems = []
    for width, scheme, scope in _LOOKS:
        page.look(width, scheme)
        if scope != "nothing":
            lines = violations(page, only_seen=scope == "seen", within=within)
            problems += [f"{width} {scheme}: {line}" for line in lines]
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            problems.append(f"{width} {scheme}: the page is wider than its window")
        problems += [f"{width}: {name} is clipped" for name in page.evaluate(_CLIPPED)]
    assert "\n".join(problems) == ""
    assert page.visit.complaints == []
