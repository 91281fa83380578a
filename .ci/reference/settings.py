"""The page of settings: each option of `start` with its variable and its key in the settings file."""

from __future__ import annotations

from pathlib import PurePath

import click

from hosting_emulator.settings_model import RULES
from hosting_emulator_cli.client_variables import VARIABLES
from hosting_emulator_cli.commands.start import start
from hosting_emulator_cli.main import PROGRAM, cli
from reference.cli import contexts, options_of
from reference.markdown import code, codes, join, prose, table

INTRODUCTION = """\
Each setting of an emulator can be an option of `hosting-emulator start`, an environment variable, or
a key of the settings file. The settings file is `hosting-emulator.yaml` in the folder of your app, or
the table `[tool.hosting-emulator]` in its `pyproject.toml`. An option takes precedence over a
variable, a variable over the file, and the file over the default. `hosting-emulator doctor` shows
where each value comes from. Separate several values of a variable with commas, and set a flag to 1.
An option without a key in the file belongs to a single start."""

VARIABLES_OF_COMMANDS = """\
These variables stand for options of other commands. `hosting-emulator exec` sets some of them, so that
commands inside it find the emulator."""

VARIABLES_OF_CLIENTS = """\
`exec`, `judge` and `explore` set these variables for the command that they run, and
`hosting-emulator env` prints them for a shell. Your app reads the ones that it needs: the address of
the API is `HOSTING_BASE_URL`. The last two exist only with a TLS port."""


def render() -> str:
    """Return the page without its title."""
    rows = [_row(option) for option in options_of(start) if option.opts[0] != "--help"]
    return join(
        INTRODUCTION,
        table(["option", "variable", "key in the file", "default", "value"], rows),
        "What each option means is on the page of [commands](cli.md#start).",
        "## Variables of other commands",
        VARIABLES_OF_COMMANDS,
        table(["variable", "option", "meaning"], _other_variables()),
        "## Variables of clients",
        VARIABLES_OF_CLIENTS,
        codes(VARIABLES),
    )


def _row(option: click.Option) -> list[str]:
    name = option.opts[0].lstrip("-")
    key = name if name in RULES else ""
    variable = code(option.envvar) if option.envvar else ""
    # The first sentence of the help.
    value = prose((option.help or "").partition(". ")[0].rstrip("."))
    if key:
        value = prose(RULES[key].setting.expected)
    default = ""
    if isinstance(option.default, str | int | PurePath) and not option.is_flag:
        default = code(option.default)
    return [code(option.opts[0]), variable, code(key) if key else "", default, value]


def _other_variables() -> list[list[str]]:
    """Return a row for each variable of an option that `start` does not have."""
    own_names = {option.envvar for option in options_of(start)}
    rows: dict[str, list[str]] = {}
    for context in contexts(click.Context(cli, info_name=PROGRAM)):
        for option in options_of(context.command):
            name = option.envvar
            if isinstance(name, str) and name not in own_names:
                help_text = prose(option.help or "")
                rows.setdefault(name, [code(name), code(option.opts[0]), help_text])
    return [rows[name] for name in sorted(rows)]
