"""Parses the arguments and options that `exec` and `explore` share."""

from __future__ import annotations

import re

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.client_variables import VARIABLES
from hosting_emulator_cli.main import near
from hosting_emulator_cli.settings_command import TYPED
from hosting_emulator_cli.value_types import TextType

#: With these context settings, all words after the command's first word belong to the command.
COMMAND_SETTINGS = {"allow_interspersed_args": False}


def _require_command(
    ctx: click.Context, param: click.Parameter, command: tuple[str, ...]
) -> tuple[str, ...]:
    if not command:
        line = f"hosting-emulator {ctx.info_name} -- CMD [ARGS]..."
        raise click.UsageError(f"give a command to run: {line}")
    return command


def _read_export(text: str) -> tuple[str, str]:
    name, _, other_name = text.partition("=")
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", other_name):
        raise ValueError(
            f"{text!r} is not of the form NAME=OTHER, such as HOSTING_BASE_URL=API_URL"
        )
    if name not in VARIABLES:
        raise ValueError(f"there is no variable {name!r}{near(name, VARIABLES)}")
    return name, other_name


command_argument = click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="-- CMD [ARGS]...",
    callback=_require_command,
)
export_option = opt.option(
    "--export",
    "exports",
    metavar="NAME=OTHER",
    help="Rename the variable NAME, as in HOSTING_BASE_URL=API_URL. Repeatable.",
    multiple=True,
    type=TextType("export", _read_export),
)


def typed_words() -> dict[str, list[str]]:
    """Return the words that the user typed for each option, by parameter name.

    In `--at now`, `now` is replaced with the current time.
    """
    ctx = click.get_current_context()
    options = {flag: param for param in ctx.command.params for flag in param.opts}
    words = iter(ctx.meta[TYPED][: -len(ctx.params["command"])])
    words_by_name: dict[str, list[str]] = {}
    for word in words:
        option = options.get(word.partition("=")[0])
        if not isinstance(option, click.Option):
            continue
        option_words = words_by_name.setdefault(str(option.name), [])
        option_words.append(word)
        if not option.is_flag and "=" not in word:
            option_words.append(next(words))
    if "at" in words_by_name:  # in a later run, `now` would be a different time
        words_by_name["at"] = ["--at", ctx.params["at"]]
    return words_by_name
