"""`exec` and `explore`: run a command with an emulator of its own around it, once, or with failures."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from math import inf
from typing import Any

import click

from hosting_emulator import EXEC_CONDUCT_VARIABLE
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.conduct import CONDUCT
from hosting_emulator_cli.files import check_folder_of
from hosting_emulator_cli.main import load, near

#: What the command finds in its environment. The last two are there only with --tls-port.
VARIABLES = (
    *("HOSTING_BASE_URL", "HOSTING_DEV_BASE_URL", "HOSTING_TOKEN"),
    *("HOSTING_ORGANIZATION_ID", "HOSTING_PROJECT_ID", "HOSTING_CONTROL_URL"),
    *("HOSTING_ISSUER_URL", "HOSTING_EMULATOR_URL", "HOSTING_EMULATOR_WORLD"),
    *("HOSTING_TLS_URL", "HOSTING_CA_FILE"),
)
#: What follows the first word is the command's own, whether `--` stands before it or not.
_WRAPS = {"allow_interspersed_args": False}


def _say_what_to_run(
    ctx: click.Context, param: click.Parameter, command: tuple[str, ...]
) -> tuple[str, ...]:
    if not command:
        line = f"hosting-emulator {ctx.info_name} -- CMD [ARGS]..."
        raise click.UsageError(f"give a command to run: {line}")
    return command


_command_argument = click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="-- CMD [ARGS]...",
    callback=_say_what_to_run,
)


def _export(text: str) -> tuple[str, str]:
    name, _, other = text.partition("=")
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", other):
        raise ValueError(f"{text!r} is not NAME=OTHER, such as HOSTING_BASE_URL=API_URL")
    if name not in VARIABLES:
        raise ValueError(f"no variable is named {name!r}{near(name, VARIABLES)}")
    return name, other


_export_option = opt.option(
    "--export exports NAME=OTHER", multiple=True, type=opt.TextType("export", _export)
)


@click.command("exec", cls=opt.SettingsCommand, context_settings=_WRAPS)
@opt.world_options
@opt.vary_options
@opt.flag("--shrink")
@opt.user_option
@_export_option
@opt.address_options(port=0)
@opt.log_options
@opt.choice("--report", "failed", "always", "never")
@opt.option("--keep FILE")
@opt.option(
    "--kill-after patience_s DURATION",
    type=opt.TextType("duration", lambda text: inf if text == "never" else opt.seconds(text)),
    default="10s",
)
@opt.choice("--conduct", *CONDUCT)
@opt.option("--skip-rule skip_rules RULE", multiple=True, callback=opt.read_words(tuple))
@opt.flag("--quiet")
@_command_argument
def exec_(shrink: bool, **given: Any) -> int:
    """Run a command with a fresh emulator, and exit with its exit code."""
    from hosting_emulator_cli.execution import Execution, execute, execute_varied

    # What is no field of a run is a setting of its emulator.
    own = {name: given.pop(name) for name in Execution.__annotations__ if name in given}
    settings = opt.settings_of(data_dir=None, **given)
    if shrink and settings.vary is None:
        raise click.UsageError("--shrink needs --vary: give a seed")
    if opt.source("conduct") is opt.ParameterSource.DEFAULT:
        own["conduct"] = _outer_conduct() or own["conduct"]
    if own["skip_rules"] and own["conduct"] == "off":
        raise click.UsageError("--skip-rule needs --conduct: give report or error")
    check_folder_of(own["keep"])
    if own["quiet"] and opt.source("report") is opt.ParameterSource.DEFAULT:
        own["report"] = "never"
    execution = Execution(settings=settings, **own)
    if settings.vary is None:
        return execute(execution).code
    return execute_varied(execution, _line_again, shrinking=shrink)


def _outer_conduct() -> str | None:
    """Return how strictly an `exec` judges whose command runs this one, or None if there is none."""
    level = os.environ.get(EXEC_CONDUCT_VARIABLE)
    return level if level in CONDUCT else None


def _line_again(points: Sequence[str] | None) -> str:
    """Return the command line that runs the same command with the same answers again."""
    given, changed = click.get_current_context().params, ("vary", "vary_only", "shrink")
    kept = [word for name, words in _typed().items() if name not in changed for word in words]
    kept += ["--vary", given["vary"]]
    for point in points or ():
        kept += ["--only", point]
    return shlex.join(["hosting-emulator", "exec", *kept, "--", *given["command"]])


def _typed() -> dict[str | None, list[str]]:
    """Return the words of the options as they were typed, by the names they arrive under."""
    ctx, found = click.get_current_context(), dict[str | None, list[str]]()
    options = {flag: param for param in ctx.command.params for flag in param.opts}
    words = iter(ctx.meta[opt.TYPED][: -len(ctx.params["command"])])
    for word in words:
        if isinstance(option := options.get(word.partition("=")[0]), click.Option):
            alone = option.is_flag or "=" in word
            found.setdefault(option.name, []).extend([word] if alone else [word, next(words)])
    if "at" in found:  # `now` would be another moment
        found["at"] = ["--at", ctx.params["at"]]
    return found


_PLAN = "hosting_emulator_lab.explore.plan"
#: What a line that repeats a point must say again, if it was said: it shapes the run.
_SHAPING = ("scenario", "state", "seed", "clock", "at", "assume", "user", "exports")
#: Those that `exec` does not have.
_SHAPING_TOO = ("limit_s", "conduct")


def _limit(text: str) -> float:
    if text.isascii() and text.isdigit():
        raise ValueError(f"{text!r} has no unit: write {text}s for seconds")
    if not (limit_s := opt.seconds(text)):
        raise ValueError(f"{text!r} leaves no time: write a duration such as 10s")
    return limit_s


@click.command(cls=opt.SettingsCommand, context_settings=_WRAPS)
@opt.option("--faults KIND,...", multiple=True, callback=opt.read_words(f"{_PLAN}:check_faults"))
@opt.flag("--outcomes")
@opt.flag("--quick")
@opt.option("--call calls CALL,...", multiple=True, callback=opt.read_words(f"{_PLAN}:check_calls"))
@opt.option("-j --jobs N", type=opt.WholeNumber(1, 64))
@opt.option("--max-runs N", type=opt.WholeNumber(1), default=300)
@opt.option("--time-limit limit_s DURATION", type=opt.TextType("duration", _limit))
@opt.option("--budget budget_s DURATION", type=opt.TextType("duration", _limit))
@opt.option(
    "--point POINT",
    type=opt.TextType("point", lambda text: load(f"{_PLAN}:FaultPoint").read(text)),
)
@opt.choice("--conduct", *CONDUCT, default="report")
@opt.option("--results results_file FILE")
@opt.world_options
@opt.user_option
@_export_option
@opt.json_option
@opt.option("--junit junit_file FILE")
@opt.option("--html html_file FILE")
@_command_argument
def explore(clock: str | None, **given: Any) -> int:
    """Find the failures that a command does not survive."""
    from hosting_emulator_cli import exploration

    # What is no field of an exploration is a setting of its emulator.
    fields = exploration.CommandExploration.__annotations__
    own = {name: given.pop(name) for name in fields if name in given}
    reports = [own[f"{kind}_file"] for kind in ("results", "junit", "html")]
    chosen = clock or (None if given["state"] else "skip")
    settings = opt.settings_of(port=0, data_dir=None, clock=chosen, **given)
    if own["point"] is not None and (own["as_json"] or any(reports)):
        raise click.UsageError("--point runs one point and writes no reports")
    for path in reports:
        check_folder_of(path)
    typed, command = _typed(), own["command"]
    of_exec = [word for name in _SHAPING for word in typed.get(name, ())]
    said = of_exec + [word for name in _SHAPING_TOO for word in typed.get(name, ())]
    if clock is None and chosen is not None:
        of_exec += ["--clock", "skip"]
    of_exec += ["--conduct", "report"]
    return exploration.explore(
        exploration.CommandExploration(
            settings=settings,
            repeat=lambda point: shlex.join(
                ["hosting-emulator", "explore", *said, "--point", str(point), "--", *command]
            ),
            repeat_clean=shlex.join(["hosting-emulator", "exec", *of_exec, "--", *command]),
            **own,
        )
    )
