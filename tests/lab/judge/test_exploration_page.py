"""The HTML report of an exploration: one page that loads nothing and escapes all texts."""

from __future__ import annotations

from html.parser import HTMLParser

from hosting_emulator_lab.judge.exploration_page import exploration_page
from tests.lab.judge.samples import (
    mixed_exploration,
)


class _ParsedPage(HTMLParser):
    """The tags, ids, link targets and loaded resources of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.resources: list[str] = []
        self.link_targets: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and tag == "a":
                self.link_targets.append(value or "")
            elif name in ("src", "href"):
                self.resources.append(value or "")


def test_the_page_loads_nothing_and_its_links_have_targets():
    page = _ParsedPage(exploration_page(mixed_exploration()))

    assert page.resources == ["data:,"]
    assert not {"script", "img", "iframe"} & set(page.tags)
    assert page.link_targets == ["#story-1"]
    assert page.ids == ["story-1"]


def test_the_page_has_both_themes_and_print_styles():
    text = exploration_page(mixed_exploration())

    assert "light-dark(" in text
    assert "@media print" in text
    assert "http" not in text.replace("http-equiv", "")


def test_the_page_escapes_the_output_of_clients():
    text = exploration_page(mixed_exploration())

    assert "&lt;Done&gt; &amp; done" in text
    assert "<Done>" not in text
