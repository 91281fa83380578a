"""The page of settings: each option of `start` with its variable and its key in the settings file."""

from __future__ import annotations

import click

from hosting_emulator.settings_model import RULES
from hosting_emulator_cli.client_variables import VARIABLES
from hosting_emulator_cli.commands.start import start
from reference.cli import options_of
from reference.markdown import code, codes, join, prose, table

INTRODUCTION = """\
Each setting of an emulator can be an option of `hosting-emulator start`, an environment variable, or
a key of the settings file. The settings file is `hosting-emulator.yaml` in the folder of your app, or
the table `[tool.hosting-emulator]` in its `pyproject.toml`. An option takes precedence over a
variable, a variable over the file, and the file over the default. `hosting-emulator doctor` shows
where each value comes from. Separate several values of a variable with commas, and set a flag to 1."""

VARIABLES_OF_CLIENTS = """\
`exec`, `judge` and `explore` set these variables for the command that they run, and
`hosting-emulator env` prints them for a shell. Your app reads the ones that it needs: the address of
the API is `HOSTING_BASE_URL`. The last two exist only with a TLS port."""


def render() -> str:
    """Return the page without its title."""
    rows = [_row(option) for option in options_of(start) if option.opts[0] != "--help"]
    return join(
        INTRODUCTION,
        table(["option", "variable", "key in the file", "value"], rows),
        "What each option means is on the page of [commands](cli.md#start).",
        "## Variables of clients",
        VARIABLES_OF_CLIENTS,
        codes(VARIABLES),
    )


def _row(option: click.Option) -> list[str]:
    name = option.opts[0].lstrip("-")
    key = name if name in RULES else ""
    variable = code(option.envvar) if option.envvar else ""
    value = ""
    if key:
        value = prose(RULES[key].setting.expected)
    return [code(option.opts[0]), variable, code(key) if key else "", value]
