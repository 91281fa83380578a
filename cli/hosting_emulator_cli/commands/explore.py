"""`explore`: run a command without faults, then repeatedly, each time with another failure."""

from __future__ import annotations

import shlex
from collections.abc import Container
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.conduct import CONDUCT, sarif_file
from hosting_emulator_cli.commands.exec import export_option
from hosting_emulator_cli.groups import load
from hosting_emulator_cli.parameters import TextType, WholeNumber, seconds
from hosting_emulator_cli.settings_file import SettingsCommand

if TYPE_CHECKING:
    from hosting_emulator.explore.plan import FaultPoint

_PLAN = "hosting_emulator.explore.plan"
_MAX_RUNS = 300
#: What a line that repeats a point must say again, if it was said: it shapes the run.
_SHAPING = {
    "scenario": "--scenario",
    "state": "--from",
    "seed": "--seed",
    "clock": "--clock",
    "at": "--at",
    "assume": "--assume",
    "principal": "--as",
    "exports": "--export",
    "limit_s": "--time-limit",
    "conduct": "--conduct",
}
#: Those of them that `exec` does not have.
_NOT_OF_EXEC = ("limit_s", "conduct")


def _limit(text: str) -> float:
    if text.isascii() and text.isdigit():
        raise ValueError(f"{text!r} has no unit: write {text}s for seconds")
    if not (limit_s := seconds(text)):
        raise ValueError(f"{text!r} leaves no time: write a duration such as 10s")
    return limit_s


@click.command(cls=SettingsCommand, context_settings={"allow_interspersed_args": False})
@opt.option("--faults KIND,...", multiple=True, callback=opt.read_words(f"{_PLAN}:check_faults"))
@opt.flag("--outcomes")
@opt.flag("--quick")
@opt.option("--calls CALL,...", multiple=True, callback=opt.read_words(f"{_PLAN}:check_calls"))
@opt.option("-j --jobs N", type=WholeNumber(1, 64))
@opt.option("--max-runs N", type=WholeNumber(1), default=_MAX_RUNS)
@opt.option("--time-limit limit_s DURATION", type=TextType("duration", _limit))
@opt.option("--budget budget_s DURATION", type=TextType("duration", _limit))
@opt.option(
    "--point POINT", type=TextType("point", lambda text: load(f"{_PLAN}:FaultPoint").read(text))
)
@opt.choice("--conduct", *CONDUCT, default="report")
@opt.option("--state state_file FILE")
@opt.world_options
@opt.as_option
@export_option
@opt.json_option
@opt.option("--junit junit_file FILE")
@opt.option("--html html_file FILE")
@opt.option("--sarif sarif_file FILE")
@opt.option("--sarif-about PATH")
@opt.command_argument
@click.pass_context
def explore(
    ctx: click.Context,
    /,
    command: tuple[str, ...],
    point: FaultPoint | None,
    as_json: bool,
    clock: str | None,
    **given: Any,
) -> None:
    """Find the failures that a command does not survive."""
    from hosting_emulator_cli import exploration

    fields = exploration.ExploreOptions.__annotations__
    own = {name: given.pop(name) for name in fields if name in given}
    own["sarif_about"] = sarif_file(own["sarif_file"], own["sarif_about"])
    reports = [own[f"{kind}_file"] for kind in ("state", "junit", "html", "sarif")]
    clock = clock if clock or given["state"] else "skip"
    settings = opt.settings_of(ctx, port=0, data_dir=None, clock=clock, **given)
    if point is not None and (as_json or any(reports)):
        raise click.UsageError("--point runs one point and writes no reports")
    for path in reports:
        opt.check_folder_of(path)
    options, of_exec = _said(ctx), _said(ctx, without=_NOT_OF_EXEC)
    if ctx.params["clock"] is None and clock is not None:
        of_exec += ["--clock", "skip"]
    chosen = exploration.ExploreOptions(
        command=command,
        settings=settings,
        point=point,
        as_json=as_json,
        repeat=lambda found: shlex.join(
            ["hosting-emulator", "explore", *options, "--point", str(found), "--", *command]
        ),
        repeat_clean=shlex.join(
            ["hosting-emulator", "exec", *of_exec, "--conduct", "report", "--", *command]
        ),
        **own,
    )
    ctx.exit(exploration.explore(chosen))


def _said(ctx: click.Context, *, without: Container[str] = ()) -> list[str]:
    """Return the options that shape a run, as far as they were given, as one types them."""
    words = []
    for name, typed in _SHAPING.items():
        if name in without or ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[name]
        if name == "limit_s":
            from hosting_emulator.contract.durations import format_duration

            value = format_duration(round(value * 1000))
        if isinstance(value, tuple):
            words += [word for one, other in value for word in (typed, f"{one}={other}")]
        else:
            words += [typed, str(value)]
    return words
