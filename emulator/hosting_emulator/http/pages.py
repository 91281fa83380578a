"""Builds HTML pages from a frame, templates and values.

The functions in this module depend only on their arguments, not on a request or a world. Pages load
nothing from other hosts, so they work offline.
"""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

DOCS_PATH: Final = "/_emulator/docs"
"""The path of the documentation. By default, the `docs_url` in problems ends with this path."""
STATIC_PATH: Final = "/_emulator/static"
"""The path under which the files that pages load are served."""
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
"""The strictest policy: no scripts and no inline styles. `data:` is allowed for the empty icon."""
_BACKTICKS: Final = re.compile(r"`([^`]+)`")


class Html(str):
    """A string that is already HTML."""


def html(text: str, /, **values: object) -> Html:
    """Fill in the `$name` placeholders of a template. Values are escaped unless they are `Html`.

    Raises KeyError if a value is missing.
    """
    return Html(Template(text).substitute({name: _escape(values[name]) for name in values}))


def _escape(value: object) -> str:
    if isinstance(value, Html):
        return value
    return escape(str(value))


class Templates:
    """A package's templates: the files in its `templates` folder."""

    def __init__(self, package: str) -> None:
        self._folder = files(package) / "templates"
        self._texts: dict[str, str] = {}

    def fill(self, name: str, /, **values: object) -> Html:
        """Return a template with its `$name` placeholders filled in. Raises KeyError if a value is
        missing.
        """
        return html(self.text(f"{name}.html"), **values)

    def text(self, file: str) -> str:
        """Return a file's text. Each file is read only once."""
        if file not in self._texts:
            self._texts[file] = (self._folder / file).read_text("utf-8")
        return self._texts[file]


_TEMPLATES: Final = Templates(__package__)


def prose(text: str) -> Html:
    """Return plain text as inline HTML: escaped, with `backticks` as code."""
    return Html(_BACKTICKS.sub(r"<code>\1</code>", escape(text, quote=False)))


def frame(
    title: str, body: Html, *, head: Html, kind: Html | str = "", top: Html | str, foot: Html
) -> Html:
    """Return an HTML document built from these parts.

    `kind` is the HTML of an attribute for the `<body>` element, or an empty string.
    """
    return _TEMPLATES.fill("page", title=title, body=body, head=head, kind=kind, top=top, foot=foot)


def control_token_page() -> str:
    """Return a page explaining that a control token is needed."""
    return page("Control token needed", _TEMPLATES.fill("control-token"))


def page(title: str, body: Html, *, base: str = "", head: str = "", kind: str = "") -> str:
    """Return a complete HTML document, with the navigation at the top and `body` in its `<main>`.

    `base` is a prefix for the emulator's own paths, such as an origin. `head` contains additional
    lines for `<head>`. `kind` is the HTML of an attribute for the `<body>` element, or an empty string.
    """
    top = _TEMPLATES.fill("top")
    foot = _TEMPLATES.fill("foot")
    text = frame(title, body, head=Html(head), kind=Html(kind), top=top, foot=foot)
    return text.replace('="/_emulator', f'="{escape(base)}/_emulator')
