"""axe-core in a page: the rules of accessibility that a machine can check, for WCAG 2.2 A and AA."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from tests.browser.page import Page

#: What is checked: the standard's rules, and the habits axe calls best practice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
#: The rules among them whose answer lies in colours and sizes, and not in the document.
SEEN = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]


@cache
def _axe() -> str:
    return (Path(__file__).parent / "vendor" / "axe.js").read_text(encoding="utf-8")


def violations(page: Page, *, only_seen: bool = False) -> list[str]:
    """Return a line for each thing on the page that breaks a rule: rule, place, what is wrong.

    `only_seen` asks no rule but those that another window or scheme can break.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"{_axe()}; void 0")
    rules = {"type": "rule", "values": SEEN} if only_seen else {"type": "tag", "values": TAGS}
    # What it would load ahead are style sheets, for rules that are not among ours.
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    found = page.evaluate(
        f"axe.run({json.dumps(options)}).then(({{violations}}) => violations.flatMap("
        "({id, nodes}) => nodes.map(({target, any, all, none}) => [id, target.flat(3).join(' '),"
        " ...[...any, ...all, ...none].map(({message}) => message)].join(' | '))))"
    )
    assert isinstance(found, list)
    return found
