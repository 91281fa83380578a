"""The page's HTML: what it loads, and what people see whose browser runs no script.

It says nothing about any world itself: the modules ask the control API, as every client does.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from hosting_emulator.server.pages.layout import STYLE_PATH

FILES_PATH: Final = "/_emulator/static/dashboard"
"""Below it lie the files of `static/`."""
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
"""No script or style but our files', no other host, nobody's frame."""


def dashboard_page(fallback_html: str) -> str:
    """Return the whole document.

    Args:
        fallback_html: What stands in `<main>` when no script runs, already HTML.
    """
    styles = "\n".join(
        f'<link rel="stylesheet" href="{FILES_PATH}/style/{name}">' for name in _styles()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>hosting-emulator</title>
<link rel="icon" href="{FILES_PATH}/icon.svg" type="image/svg+xml">
<script src="{FILES_PATH}/theme.js"></script>
{styles}
<noscript><link rel="stylesheet" href="{STYLE_PATH}"></noscript>
<script type="module" src="{FILES_PATH}/main.js"></script>
</head>
<body>
<div id="page"></div>
<noscript><main>
{fallback_html}
</main></noscript>
</body>
</html>
"""


#: These come first, in this order: what follows, such as a panel's own, is written on top of them.
_FIRST: Final = ("base.css", "parts.css", "frame.css")


@cache
def _styles() -> tuple[str, ...]:
    """Return the style sheets in the order in which they build on each other."""
    folder = files(__package__ or __name__).joinpath("static", "style")
    names = {entry.name for entry in folder.iterdir() if entry.name.endswith(".css")}
    return (*_FIRST, *sorted(names.difference(_FIRST)))
