"""The page on replaying tells the truth: its commands run, and every option and word is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hosting_emulator_cli.commands.requests import replay
from tests.docs.markdown import blocks, without_blocks
from tests.docs.terminal import PORTS, Terminals

PAGE = Path(__file__).parents[2] / "docs" / "replay.md"
TEXT = PAGE.read_text(encoding="utf-8")
WORDS = without_blocks(TEXT)


@pytest.mark.slow
def test_every_command_runs_and_prints_what_is_shown(tmp_path: Path):
    with Terminals(tmp_path) as terminals:
        terminals.follow(TEXT)


def test_a_port_of_the_page_is_in_the_program():
    assert any(PORTS[0] in block.text for block in blocks(TEXT) if block.language == "python")


def test_every_option_is_told():
    everywhere = {"--url", "--control-token", "--same-key", "--fresh", "--output"}
    options = {parameter.opts[0] for parameter in replay.params if parameter.opts[0][:2] == "--"}

    assert {option for option in options if option not in TEXT} <= everywhere


def test_lines_are_short_enough_to_read():
    prose = [line for line in WORDS.splitlines() if not line.startswith("|")]

    assert [line for line in prose if len(line) > 120] == []
    assert re.search(r"\t", TEXT) is None
