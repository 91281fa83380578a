"""The pages of the manual that a running emulator shows."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hosting_emulator.dashboard.manual import files as manual
from hosting_emulator.dashboard.manual.files import files, groups, pages
from hosting_emulator.dashboard.manual.pages import POLICY, address, manual_page
from hosting_emulator.dashboard.manual.rendering import render
from hosting_emulator.http.pages import CONTENT_SECURITY_POLICY, DOCS_PATH
from tests.support.http_world import HttpWorld, exchange

REPOSITORY = Path(__file__).parents[2]
NAMES = sorted(pages())


class Reader(HTMLParser):
    """The ids, links, pictures, tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes.update(values)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a":
            self.links.append(values["href"])
        if tag == "img":
            self.pictures.append(values["src"])


@cache
def reader_of(name: str) -> Reader:
    """Return what a browser would find on a page."""
    return Reader(manual_page(name))


def body_of(markdown: str) -> str:
    return str(render(markdown, lambda target: target).body)


def test_the_manual_has_the_readme_all_guides_and_the_reference():
    docs = REPOSITORY / "docs"
    guides = {path.stem for path in docs.glob("*.md")} - {"index"}
    reference = {f"reference/{path.stem}" for path in (docs / "reference").glob("*.md")}

    assert set(NAMES) == {"overview", *guides, *reference}


def test_every_page_is_in_exactly_one_group_of_the_navigation():
    listed = [page.name for group in groups() for page in group.pages]

    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_page_works_without_scripts_and_inline_styles(name: str):
    reader = reader_of(name)

    assert "script" not in reader.tags
    assert "style" not in {*reader.tags, *reader.attributes}
    assert not any(attribute.startswith("on") for attribute in reader.attributes)
    assert reader.tags.count("h1") == 1
    assert len(reader.ids) == len(set(reader.ids))


def test_the_content_security_policy_of_the_manual_only_adds_its_own_pictures():
    assert POLICY.replace("'self' data:", "data:") == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("name", NAMES)
def test_the_links_and_pictures_of_a_page_lead_somewhere(name: str):
    reader = reader_of(name)
    broken_links = []
    for link in [*reader.links, *reader.pictures]:
        path, _, anchor = link.partition("#")
        target = path.removeprefix(f"{DOCS_PATH}/")
        if path and target == path:
            continue  # It leads to another page of the emulator, or to another host.
        if target in pages() or not path:
            if anchor and anchor not in reader_of(target or name).ids:
                broken_links.append(link)
        elif target not in files() and not target.startswith(("errors", "control-api")):
            broken_links.append(link)

    assert broken_links == []


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("failures", "scenarios.md", "/_emulator/docs/scenarios"),
        ("failures", "scenarios.md#a-b", "/_emulator/docs/scenarios#a-b"),
        ("failures", "reference/faults.md#latency", "/_emulator/docs/reference/faults#latency"),
        ("reference/faults", "conditions.md", "/_emulator/docs/reference/conditions"),
        ("reference/faults", "../failures.md", "/_emulator/docs/failures"),
        ("failures", "../README.md", "/_emulator/docs/overview"),
        ("overview", "docs/failures.md", "/_emulator/docs/failures"),
        ("overview", "docs/pictures/request.png", "/_emulator/docs/pictures/request.png"),
        ("failures", "#here", "#here"),
        ("failures", "https://example.com/a.md", "https://example.com/a.md"),
        ("failures", "http://127.0.0.1:4620/_emulator/docs/errors", "/_emulator/docs/errors"),
        ("failures", "http://127.0.0.1:4620/v1", "http://127.0.0.1:4620/v1"),
        ("overview", "CONTRIBUTING.md", None),
        ("failures", "../tests/examples", None),
        ("failures", "maintainers/speed.md", None),
        ("failures", "../../etc/passwd", None),
    ],
)
def test_a_link_of_a_file_becomes_the_address_of_a_page(
    name: str, target: str, expected: str | None
):
    assert address(name, target) == expected


def test_a_link_to_a_file_that_is_not_served_becomes_text():
    body = str(render("[the code](CONTRIBUTING.md), [a](b.md)", {"b.md": "/b"}.get).body)

    assert body == '<p>the code, <a href="/b">a</a></p>\n'


def test_html_in_a_page_is_shown_as_text_and_comments_are_left_out():
    assert body_of("<!-- not run: it takes\nlong -->\n\nA <b>x</b>.").strip() == (
        "<p>A &lt;b&gt;x&lt;/b&gt;.</p>"
    )
    assert "hidden" not in body_of("A <!-- hidden -->.")
    assert body_of("<script>alert(1)</script>").startswith("&lt;script&gt;")


def test_headings_have_the_anchors_of_github():
    rendered = render(
        "# Top\n\n## `fault add`, now!\n\n## Same\n\n## Same\n", lambda target: target
    )

    assert re.findall(r'id="([^"]+)"', rendered.body) == ["top", "fault-add-now", "same", "same-1"]
    assert [section.title for section in rendered.sections] == ["fault add, now!", "Same", "Same"]


def test_cells_of_tables_have_the_heading_of_their_column_and_no_style():
    body = body_of("| a | b |\n|---|--:|\n| 1 | 2 |\n")

    assert '<td data-label="a">1</td>' in body
    assert '<td data-label="b" class="right">2</td>' in body


def test_a_column_without_a_heading_has_no_label():
    body = body_of("| | b |\n|---|---|\n| 1 | 2 |\n")

    assert "<th></th>" not in body
    assert "<td>1</td>" in body
    assert '<td data-label="b">2</td>' in body


def test_blocks_of_code_are_escaped_and_can_be_scrolled_with_the_keyboard():
    assert body_of("```html\n<p>\n```") == '<pre tabindex="0"><code>&lt;p&gt;\n</code></pre>\n'


def test_every_panel_of_the_page_links_a_page_of_the_manual():
    panels = REPOSITORY / "emulator/hosting_emulator/dashboard/static/panels.js"
    rows = re.findall(r'{ id: ".*?guide: "([^"]+)" }', panels.read_text(encoding="utf-8"))

    assert len(rows) >= 15
    assert set(rows) - set(NAMES) == set()


def test_the_emulator_serves_pages_pictures_and_example_files(api: HttpWorld):
    origin = api.emulator.control.control_url

    page = exchange("GET", f"{origin}/docs/failures", None, {})
    picture = exchange("GET", f"{origin}/docs/pictures/request.png", None, {})
    example = next(name for name in files() if name.startswith("examples/"))
    program = exchange("GET", f"{origin}/docs/{example}", None, {})

    assert (page.status, page.header("Content-Type")) == (200, "text/html; charset=utf-8")
    assert page.header("Content-Security-Policy") == POLICY
    assert b'<h1 id="make-things-go-wrong">' in page.body
    assert (picture.status, picture.header("Content-Type")) == (200, "image/png")
    assert (program.status, program.header("Content-Type")) == (200, "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    "path", ["nothing", "maintainers/speed", "failures.md", "..%2F..%2Fpyproject.toml", "index"]
)
def test_other_paths_below_the_documentation_are_refused(api: HttpWorld, path: str):
    response = exchange("GET", f"{api.emulator.control.control_url}/docs/{path}", None, {})

    assert response.status == 404
    assert response.json["title"] == "No such page"


def test_a_mistyped_page_is_corrected(api: HttpWorld):
    response = exchange("GET", f"{api.emulator.control.control_url}/docs/failure", None, {})

    assert "failures" in response.json["detail"]


# --- Installed packages ----------------------------------------------------------------------


def test_an_installed_package_contains_its_manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "hosting_emulator"
    package.mkdir()
    monkeypatch.setattr("hosting_emulator.__file__", str(package / "__init__.py"))
    assert manual.root.__wrapped__() == tmp_path.parent

    (package / "manual").mkdir()
    assert manual.root.__wrapped__() == package / "manual"


def test_a_package_that_was_copied_without_its_documents_has_no_manual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(manual, "root", lambda: tmp_path)
    monkeypatch.setattr(manual, "pages", manual.pages.__wrapped__)

    assert manual.pages() == {}
    assert manual.groups.__wrapped__() == []


def test_a_page_without_a_heading_is_called_like_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").touch()
    (tmp_path / "docs" / "notes.md").write_text("No heading.")
    (tmp_path / "docs" / "faults.md").write_text("# Faults and outcomes\n")
    monkeypatch.setattr(manual, "root", lambda: tmp_path)

    titles = {name: page.title for name, page in manual.pages.__wrapped__().items()}

    assert titles == {"overview": "Overview", "notes": "notes", "faults": "Faults and outcomes"}
