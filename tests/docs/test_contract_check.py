"""The page on the contract check explains every option and permission."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.command_line import command_of, options_of
from tests.docs.markdown import blocks
from tests.support.judging_tables import check_permissions

PAGE = (Path(__file__).parents[2] / "docs" / "contract-check.md").read_text(encoding="utf-8")
#: Variables that `exec` sets, which its own help names.
SET_BY_EXEC = {"HOSTING_PROJECT_ID", "HOSTING_ORGANIZATION_ID", "HOSTING_CA_FILE"}


def test_the_contract_check_guide_runs_every_block_but_the_example_of_another_server() -> None:
    assert [block.skipped for block in blocks(PAGE) if block.skipped] == ["there is no such server"]


def test_the_contract_check_guide_explains_every_permission() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)

    assert check_permissions() <= set(rows)


def test_the_contract_check_guide_names_every_option_and_variable() -> None:
    options = options_of(command_of(["contract", "check"]))

    named_options = set(re.findall(r"--[a-z-]+", PAGE))
    assert "--allow" in {option.opts[0] for option in options}
    assert {option.opts[0] for option in options} - named_options == set()
    variables = {str(option.envvar) for option in options if option.envvar}
    assert variables - set(re.findall(r"HOSTING_[A-Z_]+", PAGE)) <= SET_BY_EXEC
