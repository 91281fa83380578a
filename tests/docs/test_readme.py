"""The README tells the truth: its commands run in order, print what it shows, and its links lead on."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hosting_emulator_cli.main import cli
from tests.docs.markdown import Block, anchors, blocks, links, matches, steps, without_blocks
from tests.docs.terminal import Terminals

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks(README)
SHELL = [block for block in BLOCKS if block.language in ("console", "bash")]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like a checkout to `make run`, with the environment the tests run in."""
    for name in ("Makefile", "pyproject.toml"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def test_every_command_runs_and_prints_what_is_shown(checkout: Path):
    with Terminals(checkout) as terminals:
        for block in BLOCKS:
            if block.language == "python":
                name = block.text.splitlines()[0].removeprefix("# ")
                (checkout / name).write_text(block.text, encoding="utf-8")
            elif block.skipped is None:
                for step in steps(block):
                    terminals.run(step)


def test_only_these_blocks_are_not_run():
    skipped = [block.text.splitlines()[0] for block in SHELL if block.skipped]

    assert skipped == [
        "pip install . && hosting-emulator start",
        "docker build -t hosting-emulator .",
        "docker run --rm -p 127.0.0.1:4620:4620 -v hosting-emulator:/data \\",
    ]


def test_every_block_says_what_it_is():
    assert {block.language for block in BLOCKS} == {"console", "bash", "python"}


@pytest.mark.packaging
def test_pip_install_brings_the_command(tmp_path: Path):
    """That a wheel brings what it depends on, tests/packaging shows."""
    block = next(block for block in SHELL if "pip install" in block.text)
    install, start = block.text.strip().split(" && ")
    assert install == "pip install ."

    subprocess.run(
        [sys.executable, "-m", *shlex.split(install), "--no-deps", "--target", tmp_path],
        cwd=REPOSITORY,
        env={**os.environ, "PIP_NO_COMPILE": "1"},  # little of what is installed is run
        check=True,
    )
    helped = subprocess.run(
        [
            sys.executable,
            tmp_path / "bin" / shlex.split(start)[0],
            *shlex.split(start)[1:],
            "--help",
        ],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        text=True,
        check=True,
    )

    assert "Run the emulator until Ctrl-C." in helped.stdout


def command_of(words: list[str]) -> click.Command:
    """Return the command that a line's words name."""
    command: click.Command = cli
    for word in words:
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        if found is None:
            break
        command = found
    return command


def invocations() -> list[list[str]]:
    """Return every use of the command, in blocks and in the text, as words."""
    texts = [block.text.replace("\\\n", " ") for block in SHELL]
    texts += re.findall(r"`([^`\n]+)`", without_blocks(README))
    lines = [line for text in texts for line in text.splitlines()]
    uses = [
        use for line in lines for use in re.findall(r"hosting-emulator ([a-z-][^|)&;#]*)", line)
    ]
    return [use.replace('"', "").split() for use in uses]


@pytest.mark.parametrize("words", invocations(), ids=" ".join)
def test_options_that_are_shown_are_in_the_help(words: list[str]):
    command = command_of(words)
    known = {name for parameter in command.params for name in parameter.opts} | {"--help", ""}

    ours = words[: words.index("--")] if "--" in words else words  # what follows is another's
    options = {word for word in ours if word.startswith("--")}

    assert options - known == set()


def test_every_command_is_shown():
    used = {words[0] for words in invocations()}

    assert set(cli.list_commands(click.Context(cli))) <= used


def test_options_named_in_the_text_are_in_some_help():
    commands = [command_of([name]) for name in cli.list_commands(click.Context(cli))]
    commands += [
        command_of([group.name or "", name])
        for group in commands
        if isinstance(group, click.Group)
        for name in group.list_commands(click.Context(group))
    ]
    known = {name for command in commands for p in command.params for name in p.opts}

    named = set(re.findall(r"`(--[a-z-]+)", without_blocks(README))) - {"--help"}

    assert named - known == set()


@pytest.mark.parametrize("target", [link for link in links(README) if "://" not in link])
def test_links_lead_somewhere(target: str):
    path, _, anchor = target.partition("#")

    assert (REPOSITORY / path).exists()
    if not path:
        assert anchor in anchors(README)


def test_tables_name_only_calls_of_the_contract():
    from hosting_emulator.contract.calls import CALLS

    shown = re.findall(r"`(GET|PUT|POST) (/v1[^`?]*)", without_blocks(README))

    assert {(call.method, call.path) for call in CALLS.values()} <= set(shown)


def test_the_number_of_codes_is_right():
    from hosting_emulator.contract.problems import PROBLEMS

    produced = sum(not problem.by_fault_only for problem in PROBLEMS.values())

    assert f"Of the {len(PROBLEMS)} problem codes\nthe calls produce {produced};" in README


def test_what_is_shown_is_compared_strictly():
    assert matches("a …\n…\nz\n", "a b c\n1\n2\nz\n")
    assert not matches("a\nz\n", "a\nb\nz\n")
    assert not matches("a …\n", "b\n")


def test_a_console_block_is_commands_and_what_they_print():
    found = list(steps(Block(10, "console", "$ one \\\n  more\nshown\n$ two\n", None)))

    assert [(step.line, step.command, step.shown) for step in found] == [
        (11, "one \\\n  more", "shown\n"),
        (14, "two", ""),
    ]
