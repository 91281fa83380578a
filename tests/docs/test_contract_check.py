"""The page on the contract check tells the truth: its commands run, and no option is left out."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from hosting_emulator.contract_check import ALLOWED
from hosting_emulator_cli.commands.contract import check
from tests.docs.markdown import blocks
from tests.docs.terminal import Terminals

PAGE = (Path(__file__).parents[2] / "docs" / "contract-check.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_command_runs_and_prints_what_is_shown(tmp_path: Path) -> None:
    with Terminals(tmp_path) as terminals:
        terminals.follow(PAGE)


def test_only_the_server_that_is_not_there_is_not_asked() -> None:
    assert [block.skipped for block in blocks(PAGE) if block.skipped] == ["there is no such server"]


def test_every_word_that_permits_something_is_explained() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)

    assert set(ALLOWED) <= set(rows)


def test_every_option_is_told() -> None:
    told = set(re.findall(r"--[a-z-]+", PAGE))

    options = [found for found in check.params if isinstance(found, click.Option)]
    assert {option.opts[0] for option in options} - told == set()
    variables = {str(option.envvar) for option in options if option.envvar}
    assert variables - set(re.findall(r"HOSTING_[A-Z_]+", PAGE)) <= BY_EXEC


#: What `exec` says on its own.
BY_EXEC = {"HOSTING_PROJECT_ID", "HOSTING_ORGANIZATION_ID", "HOSTING_CA_FILE"}
