"""axe-core in a page: the rules of accessibility that a machine can check, for WCAG 2.2 A and AA."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

from tests.browser.page import Page

#: What is checked: the standard's rules, and the habits axe calls best practice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]
About = Literal["all", "colours", "form"]


@cache
def _axe() -> str:
    return (Path(__file__).parent / "vendor" / "axe.js").read_text(encoding="utf-8")


def violations(page: Page, *, within: str = "html", about: About = "all") -> list[str]:
    """Return a line for each thing on the page that breaks a rule: rule, place, what is wrong.

    `within` is the selector of the part that is looked at. `about` may be the rules of colours alone:
    no other sees what scheme a page is in; or those of the form, which are all but these.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(f"{_axe()}; void 0")
    rules = {rule: {"enabled": about != "form"} for rule in COLOURS}
    asked = {"type": "tag", "values": TAGS}
    if about == "colours":
        asked = {"type": "rule", "values": COLOURS}
    options = {"runOnly": asked, "rules": rules, "resultTypes": ["violations"]}
    found = page.evaluate(
        f"axe.run({json.dumps(within)}, {json.dumps(options)}).then(({{violations}}) => violations.flatMap("
        "({id, nodes}) => nodes.map(({target, any, all, none}) => [id, target.flat(3).join(' '),"
        " ...[...any, ...all, ...none].map(({message}) => message)].join(' | '))))"
    )
    assert isinstance(found, list)
    return found
