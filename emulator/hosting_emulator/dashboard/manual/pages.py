"""The endpoint that shows the pages of the manual."""

from __future__ import annotations

import mimetypes
import re
from functools import cache
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

from aiohttp import web

from hosting_emulator import DEFAULT_PORT
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.dashboard.manual.files import (
    OVERVIEW,
    ManualPage,
    files,
    groups,
    pages,
)
from hosting_emulator.dashboard.manual.rendering import PageSection, render
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import ControlRefusal
from hosting_emulator.http.pages import (
    CONTENT_SECURITY_POLICY,
    DOCS_PATH,
    STATIC_PATH,
    Html,
    html,
    page,
)
from hosting_emulator.http.time_slices import in_thread

#: The strictest page policy, extended to allow pictures from this server.
POLICY: Final = CONTENT_SECURITY_POLICY.replace("img-src data:", "img-src 'self' data:")
#: The line that loads the manual's style sheet.
STYLE: Final = f'<link rel="stylesheet" href="{STATIC_PATH}/manual.css">'
_PLAIN_TEXT: Final = "text/plain; charset=utf-8"
#: The emulator's own address in the manual's examples.
_OWN_ADDRESS: Final = re.compile(rf"http://(?:127\.0\.0\.1|localhost):{DEFAULT_PORT}(?=/_emulator)")
_ELSEWHERE: Final = re.compile(r"[a-z][a-z+.-]*:")
_LINK: Final = '<li><a href="$url"$current>$title</a>$sections</li>\n'
_SECTION: Final = '<li><a href="#$anchor">$title</a></li>\n'
_GROUP: Final = "<section><h2>$title</h2>\n<ul>$items</ul></section>\n"
_BODY: Final = (
    '<div class="manual">\n<article>$trail\n$body</article>\n'
    '<nav class="pages" aria-label="Manual">\n$groups</nav>\n</div>'
)


async def show(name: str) -> web.Response:
    """Show a page of the manual, or a file that a page links to."""
    file = files().get(name)
    if file is not None:
        media_type = mimetypes.guess_type(file.name)[0] or _PLAIN_TEXT
        if not media_type.startswith("image/"):
            media_type = _PLAIN_TEXT
        return responses.raw(200, file.read_bytes(), media_type)
    if name not in pages():
        hint = nearest(name, pages()) or f"; {DOCS_PATH} lists the pages"
        raise ControlRefusal(404, "No such page", f"the manual has no page {name!r}{hint}")
    # Render in a thread, because rendering a long page takes a tenth of a second.
    return responses.html(await in_thread(manual_page, name), POLICY)


@cache
def manual_page(name: str) -> str:
    """Return a page of the manual as an HTML document."""
    source = pages()[name]
    rendered = render(source.path.read_text(encoding="utf-8"), lambda target: address(name, target))
    body = html(
        _BODY,
        trail=_trail(source),
        body=rendered.body,
        groups=_navigation(name, rendered.sections),
    )
    return page(source.title, body, head=STYLE, kind=' class="wide"')


def address(name: str, target: str) -> str | None:
    """Return the address for a link on the page called `name`, or None if the link's target is not
    served.

    `target` is the link's target in the Markdown file: relative to that file, with the suffix
    `.md`.
    """
    own = _OWN_ADDRESS.sub("", target)
    if own != target or target.startswith("#") or _ELSEWHERE.match(target):
        return own
    path, _, anchor = target.partition("#")
    folder = PurePosixPath("docs", name).parent
    if name == OVERVIEW:
        folder = PurePosixPath()
    linked = normpath(folder / path)
    linked_name = _served_name(linked)
    if linked_name is None:
        return None
    suffix = f"#{anchor}" if anchor else ""
    return f"{DOCS_PATH}/{linked_name}{suffix}"


def _served_name(path: str) -> str | None:
    """Return the name under which the file with this path in the repository is served."""
    if path == "README.md":
        return OVERVIEW
    inside = path.removeprefix("docs/")
    if inside == path:
        return None
    if inside in files():
        return inside
    if inside.endswith(".md") and inside[:-3] in pages():
        return inside[:-3]
    return None


def overview_of_groups() -> Html:
    """Return the groups with their pages, for the start page of the documentation."""
    return _navigation("", ())


def _navigation(current: str, sections: tuple[PageSection, ...]) -> Html:
    """Return the navigation, which lists the groups and, below the current page, its sections."""
    parts = []
    for group in groups():
        items = [_item(entry, current, sections) for entry in group.pages]
        parts.append(html(_GROUP, title=group.title, items=Html("".join(items))))
    return Html("".join(parts))


def _item(entry: ManualPage, current: str, sections: tuple[PageSection, ...]) -> Html:
    is_current = entry.name == current
    inner = Html("")
    if is_current and sections:
        rows = [html(_SECTION, anchor=each.anchor, title=each.title) for each in sections]
        inner = Html(f"<ul>{''.join(rows)}</ul>")
    return html(
        _LINK,
        url=f"{DOCS_PATH}/{entry.name}",
        current=Html(' aria-current="page"') if is_current else "",
        title=entry.title,
        sections=inner,
    )


def _trail(source: ManualPage) -> Html:
    """Return a page's breadcrumbs."""
    items = [Html(f'<a href="{DOCS_PATH}">Docs</a>')]
    items += [html("$title", title=group.title) for group in groups() if source in group.pages]
    items.append(html('<span aria-current="page">$title</span>', title=source.title))
    rows = "".join(f"<li>{item}</li>" for item in items)
    return Html(f'<nav aria-label="Breadcrumb"><ol class="row trail">{rows}</ol></nav>')
