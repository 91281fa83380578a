"""The page of settings: each option of `start` with its variable and its key in the settings file."""

from __future__ import annotations

from pathlib import PurePath

import click

from hosting_emulator.settings_model import RULES
from hosting_emulator_cli.client_variables import VARIABLES
from hosting_emulator_cli.commands.start import start
from hosting_emulator_cli.main import PROGRAM, cli
from reference.cli import contexts, options_of
from reference.markdown import block, code, codes, join, prose, table

INTRODUCTION = """\
You can also set each option of `hosting-emulator start` as an environment variable, and most options as
keys in a settings file. The settings file is `hosting-emulator.yaml` in the folder in which you start
the emulator, or the table `[tool.hosting-emulator]` in `pyproject.toml` there. For example:"""

EXAMPLE = """\
# hosting-emulator.yaml
port: 4711
scenario: ours.yaml           # for a new world, not for a world on disk
clock: skip
assume: {accepted_status: 200}
allow-origin: ["http://app.test:3000"]"""

PRECEDENCE = """\
An option takes precedence over a variable, a variable over the file, and the file over the default.
`hosting-emulator doctor` shows where each value that is not a default comes from. In a variable,
separate several values with commas, and set a flag to 1. An option without a key cannot be set in the
file. `exec`, `judge` and `explore` also read the file, but only the keys that describe the world or
select the user."""

VARIABLES_OF_COMMANDS = """\
These variables set options of other commands. `hosting-emulator exec` sets some of them, so that
commands inside it find the emulator."""

VARIABLES_OF_CLIENTS = """\
`exec`, `judge` and `explore` set these variables for the command that they run, and
`hosting-emulator env` prints them for a shell. `HOSTING_BASE_URL` is the address of the API. The last
two are set only if the emulator has a TLS port and runs on the same machine."""


def render() -> str:
    """Return the page without its title."""
    rows = [_row(option) for option in options_of(start) if option.opts[0] != "--help"]
    return join(
        INTRODUCTION,
        block(EXAMPLE, "yaml"),
        PRECEDENCE,
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
