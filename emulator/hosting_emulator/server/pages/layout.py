"""The frame of every HTML page: head, navigation, footer and the one style sheet.

It must not know what any page is about, and loads nothing from another host: pages work offline
and under `CONTENT_SECURITY_POLICY`, which allows neither scripts nor inline styles.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

START_PATH: Final = "/_emulator/"
"""The start page, with the worlds."""
DOCS_PATH: Final = "/_emulator/docs"
"""Where the pages are served; the `docs_url` of problem types ends with it."""
ERRORS_PATH: Final = f"{DOCS_PATH}/errors"
"""The problem catalogue; the page of one problem lies under it by its slug."""
BASE_STYLE_PATH: Final = "/_emulator/static/dashboard/style/base.css"
"""Colours and type, which the dashboard has too."""
STYLE_PATH: Final = f"{DOCS_PATH}/style.css"
"""Where the server has to serve `stylesheet()`, as text/css."""
OPENAPI_PATH: Final = "/_emulator/contract/openapi.json"
ASSUMPTIONS_PATH: Final = "/_emulator/contract/assumptions"
HEALTH_PATH: Final = "/_emulator/health"

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
"""The strictest policy these pages work under (the empty icon is the `data:` image)."""

_NAVIGATION: Final = (
    (START_PATH, "Worlds"),
    (DOCS_PATH, "Docs"),
    (ERRORS_PATH, "Problems"),
    (OPENAPI_PATH, "OpenAPI"),
    (ASSUMPTIONS_PATH, "Assumptions"),
)
_BACKTICKS: Final = re.compile(r"`([^`]+)`")


def page(title: str, body_html: str, *, base: str = "", head: str = "") -> str:
    """Return a whole HTML document.

    Args:
        title: Plain text for the browser's tab; escaped here.
        body_html: The content of `<main>`, already HTML: its maker has escaped what it holds.
        base: What stands before each link, such as an origin; nothing by default.
        head: What else stands in `<head>`, as HTML lines.
    """
    here = escape(base)
    links = "".join(f'<a href="{here}{path}">{name}</a>' for path, name in _NAVIGATION)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} - hosting-emulator</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{here}{BASE_STYLE_PATH}">
<link rel="stylesheet" href="{here}{STYLE_PATH}">
{head}</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><div class="bar">
<a class="name" href="{here}{DOCS_PATH}">hosting-emulator</a>
<nav aria-label="Main">{links}</nav>
</div></header>
<main id="main">
{body_html}
</main>
<footer><p>A local emulator of the Project Hosting Control API. It is not the real service:
where the contract is silent, its answers are assumptions.</p></footer>
</body>
</html>
"""


def prose(text: str) -> str:
    """Return plain text as inline HTML: escaped, with `backticks` as code."""
    return _BACKTICKS.sub(r"<code>\1</code>", escape(text, quote=False))


@cache
def stylesheet() -> str:
    """Return the style sheet that every page links to, read once from the package."""
    return files(__package__ or __name__).joinpath("style.css").read_text(encoding="utf-8")
