"""What every HTML page is made of: templates, the frame, and the files that pages load.

A page is a function of what it is given: nothing here knows a request or a world. Pages load nothing
from another host, so they work offline and under `CONTENT_SECURITY_POLICY`, which allows neither
scripts nor inline styles.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template
from typing import Final, NamedTuple

DOCS_PATH: Final = "/_emulator/docs"
"""Where the pages are served; the `docs_url` of problem types ends with it."""
CONTROL_DOCS_PATH: Final = f"{DOCS_PATH}/control-api"
ERRORS_PATH: Final = f"{DOCS_PATH}/errors"
"""The problem catalogue; the page of one problem lies under it by its slug."""
STYLE_PATH: Final = f"{DOCS_PATH}/style.css"
"""Where the server has to serve `stylesheet()`, as text/css."""
OPENAPI_PATH: Final = "/_emulator/contract/openapi.json"
ASSUMPTIONS_PATH: Final = "/_emulator/contract/assumptions"
STATIC_PATH: Final = "/_emulator/static"
"""Where the files are served that pages load, each under its name in `static_files()`."""

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
"""The strictest policy these pages work under (the empty icon is the `data:` image)."""

_NAVIGATION: Final = (
    ("/_emulator/", "Worlds"),
    (DOCS_PATH, "Docs"),
    (ERRORS_PATH, "Problems"),
    (OPENAPI_PATH, "OpenAPI"),
    (ASSUMPTIONS_PATH, "Assumptions"),
)
_BACKTICKS: Final = re.compile(r"`([^`]+)`")
_ROOM: Final = files("hosting_emulator.server")


class Html(str):
    """Text that is HTML already."""


def html(template: str, /, **values: object) -> Html:
    """Fill in `$names`. Everything is escaped that is not `Html`."""
    given = {name: v if isinstance(v, Html) else escape(str(v)) for name, v in values.items()}
    return Html(Template(template).substitute(given))


def fill(name: str, /, **values: object) -> Html:
    """Fill in a template of the folder beside."""
    return html(_text(f"pages/templates/{name}.html"), **values)


@cache
def _text(path: str) -> str:
    return _ROOM.joinpath(path).read_text("utf-8")


def prose(text: str) -> Html:
    """Return plain text as inline HTML: escaped, with `backticks` as code."""
    return Html(_BACKTICKS.sub(r"<code>\1</code>", escape(text, quote=False)))


def cards(links: tuple[tuple[str, str, str], ...]) -> Html:
    """Return the items of a list of links: address, name, and what is there."""
    item = '<li><a href="$path">$name</a><p>$about</p></li>'
    return Html("".join(html(item, path=p, name=n, about=prose(a)) for p, n, a in links))


def page(title: str, body: Html, *, base: str = "", head: str = "") -> str:
    """Return a whole HTML document, with the navigation above.

    Args:
        title: What the browser's tab says.
        body: The content of `<main>`.
        base: What stands before each of our own addresses, such as an origin; nothing by default.
        head: What else stands in `<head>`, as lines.
    """
    link = '<a href="$path">$name</a>'
    links = Html("".join(html(link, path=path, name=name) for path, name in _NAVIGATION))
    top, foot = fill("top", links=links), fill("foot")
    text = fill("page", title=title, body=body, head=Html(head), kind="", top=top, foot=foot)
    return text.replace('="/_emulator', f'="{escape(base)}/_emulator')


def sign_in_page(title: str, body: Html) -> str:
    """Return a page of the identity provider: it leads nowhere else, and says whose it is."""
    head = Html(f'<link rel="stylesheet" href="{STATIC_PATH}/sign-in.css">\n')
    kind = Html(' class="sign-in"')
    foot = fill("sign-in-foot")
    return fill("page", title=title, body=body, head=head, kind=kind, top="", foot=foot)


def stylesheet() -> str:
    """Return the style sheet that every page links to."""
    return _text("pages/style.css")


# --- the files that pages load -------------------------------------------------------------------

_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """A file, its media type (licences and all else unknown are plain text), and its validator.

    The ETag is a strong one: it changes with the bytes (RFC 9110, 8.8.3).
    """

    body: bytes
    content_type: str
    etag: str


@cache
def static_files() -> dict[str, Traversable]:
    """Return every file that is served, by its name below `STATIC_PATH`.

    What a request names is looked up here and nowhere else, so no path reaches the file system.
    """
    found: dict[str, Traversable] = {}
    folders = [("", _ROOM.joinpath("static/files")), ("dashboard/", _ROOM / "dashboard/static")]
    for prefix, folder in folders:  # folders inside are added on the way
        for entry in folder.iterdir():
            if entry.is_dir():
                folders.append((f"{prefix}{entry.name}/", entry))
            else:
                found[prefix + entry.name] = entry
    return found


@cache
def static_file(name: str) -> StaticFile | None:
    """Return a file of the table; it is read when it is first asked for."""
    source = static_files().get(name)
    if source is None:
        return None
    body = source.read_bytes()
    kind = _TYPES.get(name.rpartition(".")[2], "text/plain; charset=utf-8")
    return StaticFile(body, kind, f'"{sha256(body).hexdigest()[:32]}"')
