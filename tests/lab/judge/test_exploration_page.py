"""The HTML report of an exploration: one page that loads nothing and escapes all texts."""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

from hosting_emulator_lab.judge.exploration_page import exploration_page
from hosting_emulator_lab.judge.point_plan import plan_points
from tests.lab.judge.samples import (
    KEY,
    mixed_exploration,
    result,
    sample_clean_run,
    sample_exploration,
    sample_observation,
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


def test_the_page_of_a_client_that_survived_lists_no_results():
    points = sample_exploration().plan.points
    exploration = sample_exploration(*(result(str(point)) for point in points))

    text = exploration_page(exploration)

    assert "survived every failure" in text
    assert "What happened" not in text


def test_the_page_describes_each_cell_of_the_matrix():
    text = exploration_page(mixed_exploration())

    assert f'title="{KEY}/connection_reset/after_commit: survived"' in text
    assert f'title="{KEY}/connection_reset/before_commit: not run"' in text


def test_a_lasting_fault_has_one_heading_on_the_page():
    run_plan = plan_points(
        sample_observation().requests, faults=["timeout", "value_lost", "abort:forbidden"]
    )

    text = exploration_page(sample_exploration(plan=run_plan))

    assert text.count("from then on") == 2


def test_the_page_lists_conduct_findings_with_a_command():
    finding = "retried-too-soon: No"
    impolite = result(f"{KEY}/timeout/before_commit", conduct=(finding,))

    text = exploration_page(sample_exploration(impolite))

    command = f"hosting-emulator explore --trial '{KEY}/timeout/before_commit' -- ./deploy.sh"
    assert f"<li>{finding} ({KEY}/timeout/before_commit)<pre>{escape(command)}</pre></li>" in text


def test_a_conduct_finding_of_the_clean_run_has_no_command_if_there_is_none():
    clean_run = sample_clean_run(sample_observation(conduct=("retried-too-soon: No",)))

    text = exploration_page(sample_exploration(clean_run=clean_run))

    assert "<li>retried-too-soon: No (the clean run)</li>" in text
