"""Every HTML page: its frame, its templates, and how they are filled in.

A page is a function of what it is given: nothing here knows a request or a world. Pages load nothing
from another host, so they work offline.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Final

DOCS_PATH: Final = "/_emulator/docs"
"""Where the pages are served; the `docs_url` of problem types ends with it."""
STATIC_PATH: Final = "/_emulator/static"
"""Where the files are served that pages load."""
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
"""The strictest policy: neither scripts nor inline styles (the empty icon is the `data:` image)."""
ROOM: Final = Path(__file__).parent
_BACKTICKS: Final = re.compile(r"`([^`]+)`")


class Html(str):
    """Text that is HTML already."""


def html(text: str, /, **values: object) -> Html:
    """Fill in `$names`. Everything is escaped that is not `Html`."""
    given = {name: v if isinstance(v, Html) else escape(str(v)) for name, v in values.items()}
    return Html(Template(text).substitute(given))


def fill(name: str, /, **values: object) -> Html:
    """Fill in a template of the folder beside."""
    return html(template(f"{name}.html"), **values)


@cache
def template(name: str) -> str:
    """Return a file of that folder."""
    return (ROOM / "templates" / name).read_text("utf-8")


def prose(text: str) -> Html:
    """Return plain text as inline HTML: escaped, with `backticks` as code."""
    return Html(_BACKTICKS.sub(r"<code>\1</code>", escape(text, quote=False)))


def page(title: str, body: Html, *, base: str = "", head: str = "") -> str:
    """Return a whole HTML document, with the navigation above and `body` in its `<main>`.

    `base` is what stands before each of our own addresses, such as an origin; `head` is what else
    stands in `<head>`, as lines.
    """
    top, foot = fill("top"), fill("foot")
    text = fill("page", title=title, body=body, head=Html(head), kind="", top=top, foot=foot)
    return text.replace('="/_emulator', f'="{escape(base)}/_emulator')


def sign_in_page(title: str, body: Html) -> str:
    """Return a page of the identity provider: it leads nowhere else, and says whose it is."""
    head = Html(f'<link rel="stylesheet" href="{STATIC_PATH}/sign-in.css">\n')
    kind = Html(' class="sign-in"')
    foot = fill("sign-in-foot")
    return fill("page", title=title, body=body, head=head, kind=kind, top="", foot=foot)
