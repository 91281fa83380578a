"""axe-core in a page: the rules of accessibility that a machine can check, for WCAG 2.2 A and AA."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from tests.browser.page import Page

#: What is checked: the standard's rules, and the habits axe calls best practice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]


@cache
def _axe() -> str:
    return (Path(__file__).parent / "vendor" / "axe.js").read_text(encoding="utf-8")


def violations(page: Page, *, within: str = "html") -> list[str]:
    """Return a line for each thing on the page that breaks a rule: rule, place, what is wrong.

    `within` is the selector of the part that is looked at.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"{_axe()}; void 0")
    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
    found = page.evaluate(
        f"axe.run({json.dumps(within)}, {json.dumps(options)}).then(({{violations}}) => violations.flatMap("
        "({id, nodes}) => nodes.map(({target, any, all, none}) => [id, target.flat(3).join(' '),"
        " ...[...any, ...all, ...none].map(({message}) => message)].join(' | '))))"
    )
    assert isinstance(found, list)
    return found
