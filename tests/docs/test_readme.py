"""The README is correct and short: its commands run in order and print what it shows."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import Block, blocks, matches, steps, without_blocks
from tests.docs.terminal import Terminals
from tests.examples.programs import need

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "docs" / "examples"
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks(README)
#: The commands in the table of ideas.
IDEAS = re.findall(r"^\| .* \| `(hosting-emulator [^`]+)` \|$", README, re.MULTILINE)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that `make run` accepts as a checkout, with the environment of the tests."""
    for name in ("Makefile", "pyproject.toml"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


@pytest.mark.usefixtures("alone")
def test_the_commands_of_the_readme_print_what_it_shows(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    # given
    need("node")
    monkeypatch.delenv("NODE_TEST_CONTEXT", raising=False)  # otherwise Node's output differs
    project = tmp_path_factory.mktemp("my-project")
    shutil.copy(EXAMPLES / "node" / "emulator.mjs", project)

    # when, then
    with Terminals(checkout) as terminals:
        for block in BLOCKS:
            if block.language in ("python", "js"):
                name = block.text.splitlines()[0].lstrip("#/ ")
                (project / name).write_text(block.text, encoding="utf-8")
                terminals.type(f"cd {project}")
            elif block.skipped is None:
                for step in steps(block):
                    terminals.run(step)


@pytest.mark.usefixtures("alone")
def test_the_commands_of_the_ideas_run_again_after_the_emulator_was_stopped(tmp_path: Path):
    assert len(IDEAS) == 6

    with Terminals(tmp_path) as terminals:
        for _ in range(2):
            terminals.start_emulator()
            for command in IDEAS:
                terminals.type(command)


def test_the_readme_has_at_most_135_lines_and_500_words():
    assert README.count("\n") <= 135
    assert len(without_blocks(README).split()) <= 500


@pytest.mark.parametrize(
    ("page", "command", "limit"),
    [
        ("languages.md", "$ hosting-emulator exec -- node --test", 700),
        ("pytest.md", "$ pytest -q", 700),
        ("ci.md", "$ hosting-emulator exec --failed-world failed.json -- node --test", 500),
    ],
)
def test_few_words_lead_from_the_readme_to_a_command_of_a_guide(
    page: str, command: str, limit: int
):
    """A reader reads the whole README, and then the guide up to the command."""
    guide = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    before, _, _ = guide.partition(command)
    # The block with the command has no end here, so its opening line would not be part of a block.
    text = README + before.rpartition("```")[0]

    prose = re.sub(r"!\[.+?\]\(.+?\)", "", without_blocks(text))
    words = [word for word in prose.split() if set(word) - set("|-:")]
    assert command in guide
    assert len(words) <= limit


def test_the_first_test_in_node_is_a_file_to_copy():
    (block,) = (block for block in BLOCKS if block.language == "js")
    name, _, text = block.text.partition("\n")

    assert text == (EXAMPLES / "node" / name.lstrip("/ ")).read_text(encoding="utf-8")


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
