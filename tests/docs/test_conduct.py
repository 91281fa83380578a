"""The guide to conduct tells the truth: its commands run in order, and it names every rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosting_emulator.conduct.rules import RULES
from tests.docs.terminal import Terminals

REPOSITORY = Path(__file__).parents[2]
GUIDE = (REPOSITORY / "docs" / "conduct.md").read_text(encoding="utf-8")
BEGIN, END = "<!-- rules -->\n", "<!-- end of rules -->"


def rule_table() -> str:
    """Return the table of rules as the page must have it."""
    lines = ["| rule | severity | what it finds | because | instead |", "|---|---|---|---|---|"]
    for rule in RULES.values():
        because = rule.because.replace("|", "\\|")
        lines.append(
            f"| `{rule.id}` | {rule.severity} | {rule.title}. {rule.matters} "
            f"| “{because}” ({rule.place}) | {rule.instead} |"
        )
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_every_command_and_test_runs_and_prints_what_is_shown(tmp_path: Path):
    with Terminals(tmp_path) as terminals:
        terminals.follow(GUIDE)


def test_the_table_is_that_of_the_rules():
    assert rule_table() == GUIDE.partition(BEGIN)[2].partition(END)[0]
