"""The documentation pages: well-formed, escaped, correctly linked, with assumptions marked."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.dashboard.documentation import show_documentation
from hosting_emulator.dashboard.manual.files import pages as manual_pages
from hosting_emulator.dashboard.problem_pages import (
    example_document,
    problem_page,
    show_catalogue,
)
from hosting_emulator.dashboard.static_files import style_sheet
from hosting_emulator.http.pages import (
    CONTENT_SECURITY_POLICY,
    DOCS_PATH,
    Html,
    page,
    prose,
)

VOID = {"meta", "link"}


class Outline(HTMLParser):
    """Collects the tags, links and headings of a page, and refuses tags that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.headings: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        self.attributes |= values.keys()
        if tag == "a":
            self.links.append(values["href"] or "")
        if values.get("id"):
            self.ids.append(values["id"] or "")
        if re.fullmatch(r"h\d", tag):
            self.headings.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def example_on(html: str) -> dict[str, object]:
    match = re.search(r"<pre[^>]*><code>.*?\n\n(.*?)</code></pre>", html, re.DOTALL)
    assert match
    document = json.loads(unescape(re.sub(r"<[^>]+>", "", match[1])))
    assert isinstance(document, dict)
    return document


def fact_on(html: str, label: str) -> str:
    match = re.search(rf"<dt>{label}</dt>(.*?)</div>", html)
    assert match
    return match[1]


PLAIN_PAGES = {"index": str(show_catalogue().text)} | {
    code: problem_page(problem) for code, problem in PROBLEMS.items()
}
ALL_PAGES = {"docs": str(show_documentation().text), **PLAIN_PAGES}


def test_a_page_is_well_formed_and_has_one_main_heading() -> None:
    for name, html in ALL_PAGES.items():
        outline = Outline(html)

        assert html.startswith("<!doctype html>\n<html lang="), name
        assert outline.headings[0] == "h1", name
        assert outline.headings.count("h1") == 1, name
        assert len(outline.ids) == len(set(outline.ids)), name
        assert {"header", "nav", "main", "footer"} <= outline.tags, name


def test_a_page_works_under_its_content_security_policy() -> None:
    assert "'unsafe" not in CONTENT_SECURITY_POLICY
    for name, html in PLAIN_PAGES.items():
        outline = Outline(html)

        assert "script" not in outline.tags, name
        assert "style" not in outline.tags | outline.attributes, name
        assert not any(attribute.startswith("on") for attribute in outline.attributes), name
        assert f'href="{DOCS_PATH}/style.css"' in html, name


def test_every_link_of_a_page_leads_to_a_served_path() -> None:
    served = {
        "/_emulator/",
        "/_emulator/docs",
        "/_emulator/docs/control-api",
        "/_emulator/docs/errors",
        "/_emulator/contract/openapi.json",
        "/_emulator/contract/assumptions",
        "/_emulator/health",
    }
    served |= {f"/_emulator/docs/errors/{problem.slug}" for problem in PROBLEMS.values()}
    served |= {f"{DOCS_PATH}/{name}" for name in manual_pages()}
    for name, html in ALL_PAGES.items():
        outline = Outline(html)

        inside = {link[1:] for link in outline.links if link.startswith("#")}
        assert inside <= set(outline.ids), name
        assert {link for link in outline.links if not link.startswith("#")} <= served, name


def test_the_docs_page_links_to_every_document() -> None:
    links = Outline(str(show_documentation().text)).links

    assert {
        "/_emulator/docs/control-api",
        "/_emulator/docs/errors",
        "/_emulator/contract/openapi.json",
        "/_emulator/contract/assumptions",
        "/_emulator/health",
    } <= set(links)


def test_the_catalogue_lists_every_problem_once_under_its_status() -> None:
    html = str(show_catalogue().text)

    for problem in PROBLEMS.values():
        assert html.count(f'/errors/{problem.slug}"') == 1
        section = html.split(f'<h2 id="status-{problem.status}">')[1].split("</section>")[0]
        assert f"<code>{problem.code}</code></a>" in section
    statuses = [int(status) for status in re.findall(r'id="status-(\d+)"', html)]
    assert statuses == sorted({problem.status for problem in PROBLEMS.values()})


def test_the_catalogue_counts_the_problems_of_each_status() -> None:
    html = str(show_catalogue().text)

    counts = re.findall(r'<b>(\d+)</b> [^<]+<span class="count">(\d+)</span>', html)
    by_status = Counter(problem.status for problem in PROBLEMS.values())
    assert {int(status): int(count) for status, count in counts} == by_status
    produced = [problem for problem in PROBLEMS.values() if not problem.by_fault_only]
    assert f"The calls themselves produce {len(produced)} of them." in html


def test_the_catalogue_marks_what_a_client_must_know_about_a_problem() -> None:
    html = str(show_catalogue().text)

    for code, problem in PROBLEMS.items():
        item = html.split(f'/errors/{problem.slug}"')[1].split("</li>")[0]
        marks = {
            "retryable": problem.retryable,
            "fixed by the contract": bool(problem.specified),
            "by fault only": problem.by_fault_only,
        }
        assert re.findall(r'<span class="mark [a-z]+">([^<]+)</span>', item) == [
            mark for mark, applies in marks.items() if applies
        ], code


def test_the_page_of_a_problem_lists_the_others_with_its_status() -> None:
    for code, problem in PROBLEMS.items():
        _, _, others = PLAIN_PAGES[code].partition("<details")

        expected = [
            other.code
            for other in PROBLEMS.values()
            if other.status == problem.status and other.code != code
        ]
        assert re.findall(r"<code>([a-z_]+)</code></a>", others) == expected, code
        # A long list can be opened, but does not hide the rest of the page.
        assert others.startswith(" open>") == (0 < len(expected) <= 12), code


def test_the_page_of_a_problem_shows_all_its_facts() -> None:
    for code, problem in PROBLEMS.items():
        html = PLAIN_PAGES[code]

        for text in (problem.meaning, problem.when, problem.advice, problem.suggested_action):
            assert prose(text) in html, code
        assert f"<code>{problem.code}</code>" in html, code
        assert f"<h1>{problem.title}</h1>" in html, code
        assert str(problem.status) in fact_on(html, "Status"), code
        assert ("Yes" if problem.retryable else "No") in fact_on(html, "Retryable"), code


def test_each_value_is_marked_as_stated_by_the_contract_or_assumed() -> None:
    labels = {
        "status": "Status",
        "retryable": "Retryable",
        "suggested_action": "Suggested action",
    }
    for code, problem in PROBLEMS.items():
        for name, label in labels.items():
            marks = ("the contract says so", "our assumption")
            mark, other_mark = marks if name in problem.specified else marks[::-1]
            assert mark in fact_on(PLAIN_PAGES[code], label), (code, label)
            assert other_mark not in fact_on(PLAIN_PAGES[code], label), (code, label)


def test_the_example_is_a_problem_document_of_the_contract() -> None:
    required = {"type", "title", "status", "code", "request_id", "retryable", "suggested_action"}
    allowed = required | {"detail", "instance", "retry_after_seconds"}
    for code, problem in PROBLEMS.items():
        example = example_on(PLAIN_PAGES[code])

        assert example == example_document(problem), code
        assert example["type"] == f"/_emulator/docs/errors/{problem.slug}", code
        assert example["code"] == code
        assert example["status"] == problem.status, code
        assert example["retryable"] is problem.retryable, code
        assert example["suggested_action"] == problem.suggested_action, code
        assert str(example["detail"])[0].isupper(), code
        assert "Our reading" not in str(example["detail"]), code
        assert required <= example.keys() <= allowed, code


def test_only_a_rate_limit_shows_how_long_to_wait() -> None:
    waiting = {c for c, problem in PROBLEMS.items() if "Retry-After:" in problem_page(problem)}

    assert waiting == {"rate_limited"}
    assert example_document(PROBLEMS["rate_limited"])["retry_after_seconds"] == 30


def test_the_texts_of_a_problem_are_escaped() -> None:
    evil = '<script>"x" & y</script>'
    problem = replace(
        PROBLEMS["forbidden"],
        title=evil,
        suggested_action=evil,
        meaning=evil,
        when=f"`{evil}`",
        advice=evil,
    )

    html = problem_page(problem)

    Outline(html)
    assert "<script" not in html
    assert example_on(html)["detail"] == f"{evil}."


def test_the_title_and_the_base_of_a_page_are_escaped() -> None:
    html = page("<b>", Html("<p>kept</p>"), base='http://h"><i>')

    assert "<title>&lt;b&gt;" in html
    assert "<p>kept</p>" in html
    assert "<i>" not in html


def test_every_link_of_a_page_begins_with_its_base() -> None:
    base = "http://127.0.0.1:4620"
    html = problem_page(PROBLEMS["rate_limited"], base)

    links = [link for link in Outline(html).links if not link.startswith("#")]
    assert links
    assert all(link.startswith(f"{base}/_emulator/") for link in links)
    assert example_on(html)["type"] == f"{base}/_emulator/docs/errors/rate-limited"


def test_backticks_become_code_and_the_rest_is_escaped() -> None:
    assert prose("a `<b>` & c") == "a <code>&lt;b&gt;</code> &amp; c"


def test_every_class_on_a_page_is_styled_and_every_style_is_used() -> None:
    used = {
        name
        for html in ALL_PAGES.values()
        for names in re.findall(r'class="([^"]+)"', html)
        for name in names.split()
    }
    styled = classes(docs_style())

    assert styled <= used
    elsewhere = classes(base_style()) | {"contents"}  # of the manual's own style sheet
    assert used - styled - elsewhere <= {"fault"}  # as inconspicuous as a plain mark


def classes(sheet: str) -> set[str]:
    rules = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", sheet, flags=re.DOTALL)
    return set(re.findall(r"\.([a-z][a-z-]*)", rules))


def docs_style() -> str:
    """Return the style sheet of the documentation pages."""
    return style_sheet().text or ""


def base_style() -> str:
    """Return the style sheet that the pages share with the dashboard."""
    base = files("hosting_emulator.dashboard").joinpath("static", "style", "base.css")
    return base.read_text(encoding="utf-8")


def linear(channel: float) -> float:
    if channel <= 0.04045:
        return channel / 12.92
    return float(((channel + 0.055) / 1.055) ** 2.4)


def luminance(color: str) -> float:
    red, green, blue = [linear(int(color[i : i + 2], 16) / 255) for i in (1, 3, 5)]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_background(theme: int) -> None:
    pair = r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)"
    declarations = re.findall(pair, base_style() + docs_style())
    colours = {name: both[theme] for name, *both in declarations}
    pairs = [
        *(
            (text, back)
            for text in ("text", "quiet", "accent")
            for back in ("page", "card", "sunk")
        ),
        *((text, "card") for text in ("key", "value")),
        *((name, f"{name}-back") for name in ("good", "warn", "busy", "bad")),
        ("quiet", "calm-back"),
    ]

    too_faint = [pair for pair in pairs if contrast(*(colours[name] for name in pair)) < 4.5]

    assert too_faint == []


def test_the_example_of_a_problem_begins_with_its_status_line_and_headers():
    text = problem_page(PROBLEMS["rate_limited"])

    head = (
        "HTTP/1.1 429 Too Many Requests\n"
        "Content-Type: application/problem+json\n"
        "X-Request-Id: 01JQ7Z3M8W4K2X9V6T5R1P0NDB\n"
        "Retry-After: 30"
    )
    assert head in text


def test_the_page_of_a_problem_leads_back_to_the_catalogue():
    text = problem_page(PROBLEMS["forbidden"])

    assert f'<li><a href="{DOCS_PATH}/errors">Problems</a></li>' in text
    assert '<li><span aria-current="page">forbidden</span></li>' in text
