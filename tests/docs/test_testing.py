"""The guide to testing tells the truth: its tests and commands run, and it leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_hosting_emulator
from hosting_emulator.sdk import Filters, HostingEmulator, Requests, WorldClock
from pytest_hosting_emulator import plugin
from tests.docs.markdown import blocks, links, without_blocks

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "testing.md"
GUIDE = PAGE.read_text(encoding="utf-8")
#: The page on one line, without its blocks; and what it writes as code.
WORDS = re.sub(r"\s+", " ", without_blocks(GUIDE))
CODE = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", WORDS))))


def test_every_block_of_the_testing_guide_names_its_language():
    assert {block.language for block in blocks(GUIDE)} == {
        "bash",
        "console",
        "python",
        "toml",
        "yaml",
    }


def test_the_testing_guide_lists_every_option_and_ini_value(pytestconfig: pytest.Config):
    names = [name for name in vars(pytestconfig.option) if name.startswith("hosting_emulator_")]

    assert len(names) >= 8
    assert [
        name for name in names if f"| `--{name.replace('_', '-')}` | `{name}` |" not in WORDS
    ] == []


def test_the_testing_guide_lists_every_fixture_mark_and_public_name(pytestconfig: pytest.Config):
    fixtures = [name for name in vars(plugin) if name.startswith("hosting_emulator")]
    marks = [
        mark.partition("(")[0]
        for mark in pytestconfig.getini("markers")
        if mark.startswith("hosting_")
    ]

    assert (len(fixtures) >= 5, marks[:1]) == (True, ["hosting_scenario"])
    assert [name for name in fixtures if f"| `{name}` |" not in WORDS] == []
    assert [name for name in {*marks, *pytest_hosting_emulator.__all__} if name not in GUIDE] == []


@pytest.mark.parametrize("kind", [HostingEmulator, WorldClock, Requests])
def test_the_testing_guide_names_every_public_member_of_the_handle(kind: type):
    own_classes = [base for base in kind.__mro__ if base.__module__.startswith("hosting_emulator.")]
    names = {
        name
        for base in own_classes
        for name in (*vars(base), *vars(base).get("__annotations__", ()))
    }

    assert {name for name in names if not name.startswith("_")} - CODE == set()


def test_the_testing_guide_names_every_filter():
    assert [name for name in Filters.__annotations__ if f"`{name}`" not in WORDS] == []


def test_the_testing_guide_links_every_example():
    linked = {Path(link).name for link in links(GUIDE)}
    examples = [path.name for path in REPOSITORY.glob("tests/examples/python/test_*.py")]

    assert set(examples) - linked == set()
