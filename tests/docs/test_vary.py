"""The page on varying tells the truth: what it shows runs, and its table is the code's."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosting_emulator.variation.points import POINTS
from tests.docs.markdown import without_blocks
from tests.docs.terminal import Terminals

PAGE = Path(__file__).parents[2] / "docs" / "vary.md"
TEXT = PAGE.read_text(encoding="utf-8")
BEGIN, END = "<!-- points -->\n", "<!-- end of points -->"


def table() -> str:
    """Return the table of points as the page must have it."""
    lines = ["| point | what varies | drawn for | leaves it open |", "|---|---|---|---|"]
    for point in POINTS.values():
        drawn = "the world: " + ", ".join(f"`{name}`" for name in point.assumptions)
        scope = drawn if point.assumptions else "each answer"
        sentence = point.sentence.replace("|", "\\|")
        lines.append(f"| `{point.id}` | {point.about} | {scope} | {sentence} |")
    return "\n".join(lines) + "\n"


def test_the_table_is_the_codes():
    assert TEXT.partition(BEGIN)[2].partition(END)[0] == table()


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_every_command_and_test_runs_and_prints_what_is_shown(tmp_path: Path):
    with Terminals(tmp_path) as terminals:
        terminals.follow(TEXT)


def test_lines_are_short_enough_to_read():
    prose = [line for line in without_blocks(TEXT).splitlines() if not line.startswith("|")]

    assert [line for line in prose if len(line) > 120] == []
