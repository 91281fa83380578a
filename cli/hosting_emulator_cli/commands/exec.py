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
from hosting_emulator_cli.main import examples, load, near

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
    "--export",
    "exports",
    metavar="NAME=OTHER",
    help=("Set the variable NAME under another name, as in HOSTING_BASE_URL=API_URL; repeatable."),
    multiple=True,
    type=opt.TextType("export", _export),
)


@click.command(
    "exec",
    cls=opt.SettingsCommand,
    context_settings=_WRAPS,
    epilog=examples(
        """
        hosting-emulator exec -- node --test
        hosting-emulator exec --clock skip --scenario provider-outage -- ./smoke.sh
        hosting-emulator exec --export HOSTING_BASE_URL=API_URL -- go test ./...
        hosting-emulator exec --vary 7 --shrink -- pytest -x
        hosting-emulator exec --keep failed.json -- make e2e
        hosting-emulator start --ephemeral --import failed.json  # and look around
        hosting-emulator exec -- bash                          # with the variables
        """
    ),
)
@opt.world_options
@opt.vary_options
@opt.flag(
    "--shrink",
    help=(
        "If CMD fails with --vary, run it again with fewer and fewer points until only those that "
        "matter are left; at most about forty runs."
    ),
)
@opt.user_option
@_export_option
@opt.address_options(port=0, port_help="TCP port to listen on. Default: a free port.")
@opt.log_options
@opt.choice(
    "--report",
    choices=("failed", "always", "never"),
    help=(
        "When to report on stderr what happened: requests with responses and reasons, pending "
        "operations, faults, the clock."
    ),
)
@opt.option(
    "--keep",
    metavar="FILE",
    help=(
        "Write the world to this file if CMD fails; `start --import FILE` opens it. Further "
        "worlds that received requests are written beside it, each under its own name."
    ),
)
@opt.option(
    "--kill-after",
    "patience_s",
    metavar="DURATION",
    help=(
        "How long CMD may take to end after Ctrl-C or another signal before it is killed; `never` "
        "for a CMD that handles Ctrl-C itself."
    ),
    type=opt.TextType("duration", lambda text: inf if text == "never" else opt.seconds(text)),
    default="10s",
)
@opt.choice(
    "--conduct",
    choices=CONDUCT,
    help=(
        "Report on stderr what CMD did wrong as a client; with `error`, a finding makes the exit "
        "code 1. An `exec` that CMD runs judges likewise. See `hosting-emulator conduct`."
    ),
)
@opt.option(
    "--skip-rule",
    "skip_rules",
    metavar="RULE",
    help="Skip this conduct rule; repeatable.",
    multiple=True,
    callback=opt.read_words(tuple),
)
@opt.flag(
    "--quiet",
    help="Print nothing, and no report unless --report asks for one.",
)
@_command_argument
def exec_(shrink: bool, **given: Any) -> int:
    """Run a command with a fresh emulator, and exit with its exit code.

    `exec -- CMD [ARGS]` starts the emulator on a free port, with the scenario, seed, clock and
    assumptions of a settings file that is here (see `start`), then runs CMD with these environment
    variables:

    \b
      HOSTING_BASE_URL         the API; HOSTING_DEV_BASE_URL is its second server
      HOSTING_TOKEN            a token for --user, for ten years of world time
      HOSTING_ORGANIZATION_ID  an organization; HOSTING_PROJECT_ID a project of it
      HOSTING_CONTROL_URL      the control API: clock, faults, requests and more
      HOSTING_ISSUER_URL       the identity provider, for OpenID discovery
      HOSTING_EMULATOR_URL     for our command in CMD, as HOSTING_EMULATOR_WORLD
      HOSTING_EMULATOR_EXEC_URL  makes the pytest plugin use this emulator
      HOSTING_TLS_URL          with --tls-port; HOSTING_CA_FILE, the CA to trust

    Nothing is kept: when CMD ends, the emulator stops, and so does whatever CMD left running.
    Ctrl-C ends both; a second Ctrl-C kills them at once.

    The exit code is CMD's own: 127 if CMD was not found, 126 if it cannot be run, 128+N after
    signal N. It is 2 if the emulator could not start; CMD was not run then. It is also 2 if CMD
    succeeded but --conduct could not judge it: with `error`, if no request reached the emulator; if
    the emulator does not respond when CMD ends; or if a check itself fails.

    Report, verdict and --keep cover every world of the emulator, also those that CMD created, reset
    or deleted.
    """
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


@click.command(
    cls=opt.SettingsCommand,
    context_settings=_WRAPS,
    epilog=examples(
        r"""
        hosting-emulator explore -- node deploy.js
        hosting-emulator explore --outcomes -- node deploy.js
        hosting-emulator explore --outcomes --faults wire --quick -- node deploy.js
        hosting-emulator explore --faults timeout,connection_reset -- ./smoke.sh
        hosting-emulator explore --call create_user_api_key --html report.html \
            -- make e2e
        hosting-emulator explore --results so-far.json --budget 10m -- go test ./...
        hosting-emulator explore \
            --point 'create_user_api_key#1/timeout/after_commit' -- ./smoke.sh
        """
    ),
)
@opt.option(
    "--faults",
    metavar="KIND,...",
    help=(
        "Try only these faults: kinds such as timeout (`fault kinds` lists them), abort:CODE, "
        "gateway_error:STATUS, abort:* for every code, `wire` for all kinds, or one that "
        "--outcomes includes; repeatable."
    ),
    multiple=True,
    callback=opt.read_words(f"{_PLAN}:check_faults"),
)
@opt.flag(
    "--outcomes",
    help=(
        "Try lasting failures: an operation fails or is stuck, a request is refused every time, a "
        "token expires, an outage does not end. With --faults both are tried, otherwise only "
        "these."
    ),
)
@opt.flag(
    "--quick",
    help="Make only a tenth of the runs, the most informative ones.",
)
@opt.option(
    "--call",
    "calls",
    metavar="CALL,...",
    help="Apply faults only to requests of these calls, such as create_user_api_key; repeatable.",
    multiple=True,
    callback=opt.read_words(f"{_PLAN}:check_calls"),
)
@opt.option(
    "-j",
    "--jobs",
    metavar="N",
    help="Number of parallel runs. Default: three per processor.",
    type=opt.WholeNumber(1, 64),
)
@opt.option(
    "--max-runs",
    metavar="N",
    help="Make at most this many runs, spread over all requests.",
    type=opt.WholeNumber(1),
    default=300,
)
@opt.option(
    "--time-limit",
    "limit_s",
    metavar="DURATION",
    help=(
        "End a run that takes longer. Default: 10s, or three times the clean run if that is more; "
        "twice that with --outcomes."
    ),
    type=opt.TextType("duration", _limit),
)
@opt.option(
    "--budget",
    "budget_s",
    metavar="DURATION",
    help="Stop after this time and report the results so far.",
    type=opt.TextType("duration", _limit),
)
@opt.option(
    "--point",
    metavar="POINT",
    help="Run only this point, as a report names it, and show CMD's output: CALL#N/FAULT/PHASE.",
    type=opt.TextType("point", lambda text: load(f"{_PLAN}:FaultPoint").read(text)),
)
@opt.choice(
    "--conduct",
    choices=CONDUCT,
    help=(
        "What to do about conduct findings of severity warning or worse; with `error`, a run with "
        "a finding counts as not survived."
    ),
    default="report",
)
@opt.option(
    "--results",
    "results_file",
    metavar="FILE",
    help="Keep results in this file, and continue from it after an interruption.",
)
@opt.world_options
@opt.user_option
@_export_option
@opt.json_option
@opt.option(
    "--junit",
    "junit_file",
    metavar="FILE",
    help="Write a JUnit report to this file.",
)
@opt.option(
    "--html",
    "html_file",
    metavar="FILE",
    help="Write a self-contained HTML page to this file.",
)
@_command_argument
def explore(clock: str | None, **given: Any) -> int:
    """Find the failures that a command does not survive.

    `explore -- CMD [ARGS]` first runs CMD without faults, which must succeed. Then it runs CMD
    again for each request of that run and each fault worth trying there, before and after the
    request takes effect. Each run has its own world, with a clock that polling moves (`--clock
    skip` is the default). CMD gets the same environment variables as with `exec`.

    The report lists the faults that CMD survived; where it failed or hung; and where it succeeded
    but did something twice, or left a different result than the clean run. With --outcomes CMD may
    give up: the report says where CMD claims success anyway, crashes, or retries in vain. Each such
    point has a command that repeats it.

    The exit code is 0 if CMD survived all runs, 1 if not, 2 if it could not be explored, and 130
    after Ctrl-C, which still reports the results so far.
    """
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
