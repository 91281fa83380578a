"""The page about the emulated service agrees with the declarations, and quotes the contract exactly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import ALL_CALLS, CALLS
from hosting_emulator.contract.problems import PROBLEMS
from tests.docs.markdown import anchors, without_blocks
from tests.support.service_declarations import (
    DEFAULT_POPULATION,
    LIFETIMES,
    parse_profile,
)

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PAGE = (DOCS / "service.md").read_text(encoding="utf-8")
CALLS_PAGE = (DOCS / "reference" / "calls.md").read_text(encoding="utf-8")
#: The texts that say how long something is valid.
PAGES = PAGE + (DOCS / "sign-in.md").read_text(encoding="utf-8") + CALLS_PAGE
CONTRACT = (REPOSITORY / "tests" / "support" / "contract.txt").read_text(encoding="utf-8")


def section(heading: str, page: str = PAGE) -> str:
    """Return the text of a section, without its heading."""
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the tables of a section, without their first lines."""
    lines = re.findall(r"^\|(.+)\|$", section(heading), re.MULTILINE)
    table = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [row for row in table if not row[0].startswith("---")]


def plain(text: str) -> str:
    """Return text in one line, without the marks of quoted lines and of list items."""
    return " ".join(re.sub(r"^(> ?|\d\. |- )", "", text, flags=re.MULTILINE).split())


def quotations(page: str) -> list[str]:
    """Return the texts in typographic quotation marks in the prose of a page."""
    text = re.sub(r"\\([<_*\[\]])", r"\1", plain(without_blocks(page)))
    return re.findall(r"“([^”]+)”", text)


def test_each_quotation_is_a_text_of_the_contract():
    contract = plain(CONTRACT)

    assert [text for text in quotations(PAGE) if text not in contract] == []
    assert [text for text in quotations(CALLS_PAGE) if text not in contract] == []


def test_the_table_of_calls_lists_every_call_with_its_request_and_a_link():
    table = rows("Calls")[1:]

    assert [row[0] for row in table] == [str(number) for number in range(1, len(CALLS) + 1)]
    for row, call in zip(table, CALLS.values(), strict=True):
        assert row[2] == f"`{call.method} {call.path}`"
        assert row[1].endswith(f"(reference/calls.md#{call.call_id})")


def test_the_path_of_the_poll_is_stated():
    poll = ALL_CALLS["get_operation"]

    assert f"`{poll.method} {poll.path}`" in section("Calls")


def test_the_durations_of_an_operation_are_those_of_the_profiles():
    assumptions = Assumptions()
    queued_ms, running_ms = parse_profile(assumptions.source_profile)[1:]

    assert parse_profile(assumptions.domains_profile)[1:] == (queued_ms, running_ms)
    total_s = (queued_ms + running_ms) // 1000
    assert (
        f"both take {total_s} seconds of world time: "
        f"{queued_ms // 1000} seconds queued, and {running_ms // 1000} seconds running"
    ) in plain(section("Operations"))


@pytest.mark.parametrize("words", LIFETIMES)
def test_the_pages_state_how_long_something_is_valid(words: str):
    actual_ms, stated_ms = LIFETIMES[words]

    assert words in plain(PAGES)
    assert actual_ms == stated_ms


def test_the_number_of_problem_codes_is_right():
    assert f"lists the {len(PROBLEMS)} codes" in section("Problems")


def test_the_story_of_the_default_world_names_each_user_and_project():
    story = section("The default world")

    aliases = [user.alias for user in DEFAULT_POPULATION.users]
    aliases += [project.alias for project in DEFAULT_POPULATION.projects]
    assert [alias for alias in aliases if f"`{alias}`" not in story] == []


@pytest.mark.parametrize(
    "guide",
    [path for path in sorted(DOCS.glob("*.md")) if path.name != "service.md"],
    ids=lambda path: path.name,
)
def test_a_quotation_of_the_contract_in_a_guide_leads_to_its_sentence_on_this_page(guide: Path):
    """Such a quotation is a link: `[“All bodies are JSON.”](service.md#problems)`."""
    page = guide.read_text(encoding="utf-8")
    contract = plain(CONTRACT)
    quoted = [text for text in quotations(page) if text in contract]
    targets = dict(re.findall(r"\[“([^”]+)”\]\(service\.md#([\w-]+)\)", plain(page)))

    assert set(quoted) <= targets.keys()
    for text in quoted:
        headings = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
        heading = next(line for line in headings if anchors(f"## {line}") == {targets[text]})
        assert text in plain(section(heading))
