"""The page on replaying explains every option."""

from __future__ import annotations

from pathlib import Path

from tests.docs.command_line import command_of, options_of
from tests.docs.markdown import blocks
from tests.docs.terminal import PORTS

PAGE = (Path(__file__).parents[2] / "docs" / "replay.md").read_text(encoding="utf-8")
#: Options that other pages explain.
EXPLAINED_ELSEWHERE = {"--url", "--control-token", "--same-key", "--fresh", "--output"}


def test_the_program_of_the_replay_guide_uses_the_default_port():
    assert any(PORTS[0] in block.text for block in blocks(PAGE) if block.language == "python")


def test_the_replay_guide_explains_every_option():
    options = {option.opts[0] for option in options_of(command_of(["requests", "replay"]))}

    assert "--fresh" in options
    assert {option for option in options if option not in PAGE} <= EXPLAINED_ELSEWHERE
