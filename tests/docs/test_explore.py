"""The guide to exploring tells the truth: its commands run in order, and it leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hosting_emulator.explore.plan import KINDS
from hosting_emulator.explore.runs import MEANINGS
from hosting_emulator_cli.commands.exec import explore
from tests.docs.terminal import Terminals

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "explore.md"
GUIDE = PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_every_command_runs_and_prints_what_is_shown(tmp_path: Path):
    with Terminals(tmp_path) as terminals:
        terminals.follow(GUIDE)


def test_every_kind_of_fault_is_told():
    assert [kind for kind in KINDS if f"`{kind}`" not in GUIDE] == []


def test_every_verdict_is_told_with_its_mark():
    rows = [f"| `{mark}` | {verdict} | {text} |" for verdict, (mark, _, text) in MEANINGS.items()]

    assert [row for row in rows if row not in GUIDE] == []


def test_options_that_are_shown_are_in_the_help():
    known = {name for parameter in explore.params for name in parameter.opts}
    commands = re.findall(r"^\$ hosting-emulator explore (.*?) -- ", GUIDE, re.MULTILINE)

    assert commands
    shown = {word for command in commands for word in command.split() if word.startswith("-")}
    assert shown - known == set()
