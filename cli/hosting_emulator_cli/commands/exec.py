"""`exec`: run any command with an emulator of its own around it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.conduct import CONDUCT
from hosting_emulator_cli.parameters import TextType, seconds
from hosting_emulator_cli.settings_file import SettingsCommand

#: What the command finds in its environment. The last two are there only with --tls-port.
VARIABLES = (
    *("HOSTING_BASE_URL", "HOSTING_DEV_BASE_URL", "HOSTING_TOKEN"),
    *("HOSTING_ORGANIZATION_ID", "HOSTING_PROJECT_ID", "HOSTING_CONTROL_URL"),
    *("HOSTING_ISSUER_URL", "HOSTING_EMULATOR_URL", "HOSTING_EMULATOR_WORLD"),
    *("HOSTING_TLS_URL", "HOSTING_CA_FILE"),
)
_VARIABLE_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_TYPED = "hosting_emulator_cli.typed"


def _export(text: str) -> tuple[str, str]:
    name, _, other = text.partition("=")
    if not _VARIABLE_NAME.fullmatch(other):
        raise ValueError(f"{text!r} is not NAME=OTHER, such as HOSTING_BASE_URL=API_URL")
    if name not in VARIABLES:
        from hosting_emulator.contract.words import nearest

        hint = nearest(name, VARIABLES) or f"; there are {', '.join(VARIABLES)}"
        raise ValueError(f"no variable is named {name!r}{hint}")
    return name, other


export_option = opt.option(
    "--export exports NAME=OTHER", multiple=True, type=TextType("export", _export)
)


def _patience(text: str) -> float:
    return inf if text == "never" else seconds(text)


class _Exec(SettingsCommand):
    """A command that remembers its words as they were typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words, and read them."""
        ctx.meta[_TYPED] = list(args)
        return super().parse_args(ctx, args)


@click.command(
    "exec",
    cls=_Exec,
    # What follows the first word is the command's own, whether `--` stands before it or not.
    context_settings={"allow_interspersed_args": False},
)
@opt.world_options
@opt.vary_options
@opt.flag("--shrink")
@opt.as_option
@export_option
@opt.address_options(port=0)
@opt.log_options
@opt.choice("--report", "failed", "always", "never")
@opt.option("--keep FILE")
@opt.option("--kill-after patience_s DURATION", type=TextType("duration", _patience), default="10s")
@opt.choice("--conduct", *CONDUCT)
@opt.option("--conduct-off RULE", multiple=True, callback=opt.read_words(tuple))
@opt.flag("--quiet")
@opt.command_argument
@click.pass_context
def exec_(ctx: click.Context, /, command: tuple[str, ...], shrink: bool, **same: Any) -> None:
    """Run a command with a fresh emulator, and exit with its exit code."""
    from hosting_emulator_cli.execution import Execution, execute, execute_varied

    # What is no field of a run is a setting of its emulator.
    run = {name: same.pop(name) for name in Execution.__annotations__ if name in same}
    settings = opt.settings_of(ctx, data_dir=None, **same)
    if shrink and settings.vary is None:
        raise click.UsageError("--shrink needs --vary: give a seed")
    if run["conduct_off"] and run["conduct"] == "off":
        raise click.UsageError("--conduct-off needs --conduct: give report or error")
    opt.check_folder_of(run["keep"])
    if run["quiet"] and ctx.get_parameter_source("report") is click.core.ParameterSource.DEFAULT:
        run["report"] = "never"
    execution = Execution(command=command, settings=settings, **run)
    if settings.vary is None:
        ctx.exit(execute(execution).code)
    ctx.exit(execute_varied(execution, lambda only: _line_again(ctx, only), shrinking=shrink))


def _line_again(ctx: click.Context, points: Sequence[str] | None) -> str:
    """Return the command line that runs the same command with the same answers again."""
    command: Sequence[str] = ctx.params["command"]
    typed = ctx.meta[_TYPED]
    only = [word for point in points or () for word in ("--only", point)]
    kept = _without_variation(typed[: len(typed) - len(command)])
    vary = ("--vary", ctx.params["vary"])
    return shlex.join(["hosting-emulator", "exec", *kept, *vary, *only, "--", *command])


def _without_variation(words: Sequence[str]) -> Iterator[str]:
    left = iter(words)
    for word in left:
        if word in ("--vary", "--only"):
            next(left, None)
        elif word not in ("--", "--shrink") and not word.startswith(("--vary=", "--only=")):
            yield word
