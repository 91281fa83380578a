"""The command line's help, the page and the site have the same groups."""

from __future__ import annotations

import re
from pathlib import Path

from hosting_emulator_cli.help_text import HelpGroup
from hosting_emulator_cli.main import cli

ROOT = Path(__file__).parents[2]
PANELS = ROOT / "emulator/hosting_emulator/dashboard/static/panels.js"
INDEX = ROOT / "docs/index.md"
#: Groups of the site for pages that belong to no group of commands.
OTHER = {"Look up", "Reference", "For maintainers"}


def command_groups() -> set[str]:
    assert isinstance(cli, HelpGroup)
    return {*cli.command_sections}


def test_the_page_has_the_groups_of_the_command_line():
    groups = re.findall(r'group: "([^"]+)"', PANELS.read_text("utf-8"))

    assert {*groups} == command_groups() - {"Run it"}


def test_the_site_has_the_groups_of_the_command_line():
    captions = re.findall("^:caption: (.+)$", INDEX.read_text("utf-8"), re.M)

    assert {*captions} - OTHER == command_groups() - {"Run it"}
