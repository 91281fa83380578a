"""The page about the emulated service agrees with the declarations, and quotes the contract exactly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import ALL_CALLS, CALLS
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.problems import PROBLEMS
from tests.docs.markdown import anchors, without_blocks
from tests.support.service_declarations import (
    DEFAULT_POPULATION,
    DEPLOYING_PLAN,
    LIFECYCLES,
    LIFETIMES,
    PLAIN_PLAN,
    parse_profile,
)

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PAGE = (DOCS / "service.md").read_text(encoding="utf-8")
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
    return re.findall(r"“([^”]+)”", plain(without_blocks(page)).replace("\\<", "<"))


def test_each_quotation_is_a_text_of_the_contract():
    contract = plain(CONTRACT)

    assert [text for text in quotations(PAGE) if text not in contract] == []


def test_the_table_of_calls_lists_every_call_with_its_request_and_a_link():
    table = rows("Calls")[1:]

    assert [row[0] for row in table] == [str(number) for number in range(1, len(CALLS) + 1)]
    for row, call in zip(table, CALLS.values(), strict=True):
        assert row[2] == f"`{call.method} {call.path}`"
        anchor = re.search(r"\(#(.+)\)", row[1])
        assert anchor is not None
        assert anchor[1] in anchors(PAGE)


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_the_section_of_a_call_says_what_is_contract_assumed_and_missing(number: int):
    call = list(CALLS.values())[number]
    title = rows("Calls")[1:][number][1].partition("]")[0].removeprefix("[")
    heading = title[0].upper() + title[1:]

    text = section(heading)

    link = f"[reference](reference/calls.md#{call.call_id})"
    assert text.strip().startswith(f"`{call.method} {call.path}` · {link}")
    assert [row[0] for row in rows(heading)[1:]] == ["contract", "assumed", "missing"]


def test_the_path_of_the_poll_is_stated():
    poll = ALL_CALLS["get_operation"]

    assert f"`{poll.method} {poll.path}`" in section("Calls")


def test_the_durations_of_an_operation_are_those_of_the_profiles():
    assumptions = Assumptions()
    profiles = [assumptions.source_profile, assumptions.domains_profile]
    expected: dict[str, list[str]] = {step.phase: ["none", "none"] for step in DEPLOYING_PLAN}
    for column, (profile, plan) in enumerate(
        zip(profiles, (DEPLOYING_PLAN, PLAIN_PLAN), strict=True)
    ):
        _, queued_ms, running_ms = parse_profile(profile)
        for step in plan:
            duration_ms = queued_ms if step.state == "queued" else int(step.share * running_ms)
            expected[step.phase][column] = format_duration(duration_ms) if duration_ms else "none"

    table = rows("Operations")[1:]

    assert [row[:2] for row in table] == [[step.state, step.phase] for step in DEPLOYING_PLAN]
    assert {row[1]: row[2:4] for row in table} == expected
    assert [row[4] for row in table] == [step.deployment for step in DEPLOYING_PLAN]
    total_ms = sum(parse_profile(assumptions.source_profile)[1:])
    assert f"both take {total_ms // 1000} seconds" in section("Operations")


def test_the_states_of_the_other_lifecycles_are_all_named():
    lifecycles: dict[str, Any] = {lifecycle.name: lifecycle for lifecycle in LIFECYCLES}
    table = rows("Other lifecycles")[1:]

    for name, text in table:
        states = set(re.findall(r"[a-z_]+", text))
        assert set(lifecycles[name].transitions) <= states
    assert {name for name, _ in table} == set(lifecycles) - {"operation", "reconciliation"}


@pytest.mark.parametrize("words", LIFETIMES)
def test_the_page_states_how_long_something_is_valid(words: str):
    actual_ms, stated_ms = LIFETIMES[words]

    assert words in plain(PAGE)
    assert actual_ms == stated_ms


def test_the_number_of_problem_codes_is_right():
    assert f"The {len(PROBLEMS)} codes" in section("Problems")


def test_the_default_world_is_described_as_it_is():
    tables = rows("The default world")
    users = [row for row in tables if len(row) == 3][1:]
    projects = [row for row in tables if len(row) == 5][1:]
    parts = DEFAULT_POPULATION.projects

    assert [row[0] for row in users] == [f"`{user.alias}`" for user in DEFAULT_POPULATION.users]
    for row, user in zip(users, DEFAULT_POPULATION.users, strict=True):
        organization = next(iter(user.organizations), None)
        assert row[1] == (f"`{organization}`" if organization else "none")
        for project in user.projects:
            assert f"`{project}`" in row[2]
    assert [row[0] for row in projects] == [f"`{part.alias}`" for part in parts]
    for row, part in zip(projects, parts, strict=True):
        deployments = part.deployments
        count = deployments if isinstance(deployments, int) else len(deployments)
        domain = "none" if part.domain is None else f"`{part.domain}`"
        databases = f"{part.database.dev}, {part.database.prod}"
        if part.database.data_mode == "shared":
            databases = f"{part.database.dev}, shared by both"
        flag = ", flag on" if part.flag else ""
        assert row[1:] == [str(count), f"{domain}{flag}", part.dns, databases]


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
