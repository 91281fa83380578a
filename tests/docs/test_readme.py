"""The README is correct and short: its commands run in order and print what it shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.docs.markdown import Block, blocks, matches, steps
from tests.docs.terminal import Terminals

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks(README)
RUNNING = blocks((REPOSITORY / "docs" / "running.md").read_text(encoding="utf-8"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that `make run` accepts as a checkout, with the environment of the tests."""
    for name in ("Makefile", "pyproject.toml"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def test_the_commands_of_the_readme_print_what_it_shows(checkout: Path):
    with Terminals(checkout) as terminals:
        for block in BLOCKS:
            if block.language == "python":
                name = block.text.splitlines()[0].removeprefix("# ")
                (checkout / name).write_text(block.text, encoding="utf-8")
            elif block.skipped is None:
                for step in steps(block):
                    terminals.run(step)


def test_the_readme_has_at_most_150_lines():
    assert README.count("\n") <= 150


def test_the_guide_installs_a_checkout_with_pip():
    """tests/packaging shows what such an installation contains and that it starts."""
    block = next(block for block in RUNNING if "pip install" in block.text)

    assert block.text.strip() == "pip install . && hosting-emulator start"


def test_printed_output_must_match_every_line_that_a_page_shows():
    assert matches("a …\n…\nz\n", "a b c\n1\n2\nz\n")
    assert not matches("a\nz\n", "a\nb\nz\n")
    assert not matches("a …\n", "b\n")


def test_a_console_block_is_read_as_commands_with_their_output():
    parsed_steps = list(steps(Block(10, "console", "$ one \\\n  more\nshown\n$ two\n", None)))

    assert [(step.line, step.command, step.output) for step in parsed_steps] == [
        (11, "one \\\n  more", "shown\n"),
        (14, "two", ""),
    ]
