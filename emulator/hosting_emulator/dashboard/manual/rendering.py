"""Renders Markdown as HTML that needs neither scripts nor inline styles."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from hosting_emulator.http.pages import Html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: A function that returns the address for the target of a link or picture, or None if the target is
#: not served.
Resolve = Callable[[str], str | None]
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_ALIGNMENT: Final = re.compile(r"text-align:(\w+)")
#: The levels of headings that are included in a page's list of sections.
_LISTED: Final = ("h2",)


@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading on a page, and its anchor."""

    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as HTML, and its sections."""

    body: Html
    sections: tuple[PageSection, ...]


def render(text: str, resolve: Resolve) -> Rendered:
    """Render a page. A link whose target is not served becomes plain text."""
    parser = _parser()
    tokens = parser.parse(text)
    sections = _name_headings(tokens)
    _label_cells(tokens)
    for token in tokens:
        _use_classes(token)
        _resolve_targets(token.children or (), resolve)
    return Rendered(Html(parser.renderer.render(tokens, parser.options, {})), tuple(sections))


@cache
def _parser() -> MarkdownIt:
    # Import the parser only when a page is shown, because the import takes 30 ms.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.add_render_rule("html_block", _render_html)
    parser.add_render_rule("html_inline", _render_html)
    parser.add_render_rule("fence", _render_block)
    parser.add_render_rule("code_block", _render_block)
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", _close_table)
    return parser


# The parser calls the following functions as methods of its renderer.


def _render_html(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    """Return an empty string for a comment. Other HTML is shown as text."""
    return escape(_COMMENT.sub("", tokens[index].content), quote=False)


def _render_block(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    """Return a code block that can be focused, so that it can be scrolled with the keyboard."""
    return f'<pre tabindex="0"><code>{escape(tokens[index].content, quote=False)}</code></pre>\n'


def _open_table(*_: Any) -> str:
    return '<div class="scrolls" tabindex="0"><table>\n'


def _close_table(*_: Any) -> str:
    return "</table></div>\n"


def _name_headings(tokens: Sequence[Token]) -> list[PageSection]:
    """Give each heading the same anchor as on GitHub, and return the sections to list."""
    sections = []
    counts: dict[str, int] = {}
    for token, content in pairwise(tokens):
        if token.type != "heading_open":
            continue
        title = "".join(child.content for child in content.children or ())
        anchor = re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        repeats = counts.get(anchor, 0)
        counts[anchor] = repeats + 1
        if repeats:
            anchor = f"{anchor}-{repeats}"
        token.attrSet("id", anchor)
        if token.tag in _LISTED:
            sections.append(PageSection(anchor, title))
    return sections


def _label_cells(tokens: Sequence[Token]) -> None:
    """Label each cell of a table with its column's heading, which is shown beside the cell in a
    narrow window.

    A heading without text becomes an ordinary cell, because screen readers would announce an empty
    heading.
    """
    headings: list[str] = []
    column = 0
    for opening, content, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "table_open":
            headings = []
        elif opening.type == "tr_open":
            column = 0
        elif opening.type == "th_open":
            headings.append(content.content)
            if not content.content:
                opening.tag = "td"
                closing.tag = "td"
        elif opening.type == "td_open":
            if headings[column]:
                opening.attrSet("data-label", headings[column])
            column += 1


def _use_classes(token: Token) -> None:
    """Replace the inline style of an aligned cell, because the content security policy forbids
    inline styles.
    """
    match = _ALIGNMENT.search(str(token.attrGet("style") or ""))
    if match is not None:
        del token.attrs["style"]
        token.attrSet("class", match[1])


def _resolve_targets(children: Sequence[Token], resolve: Resolve) -> None:
    open_links = []
    for child in children:
        if child.type == "image":
            child.attrSet("src", resolve(str(child.attrGet("src"))) or "data:,")
        elif child.type == "link_open":
            address = resolve(str(child.attrGet("href")))
            child.hidden = address is None
            child.attrSet("href", address or "")
            open_links.append(child)
        elif child.type == "link_close":
            child.hidden = open_links.pop().hidden
