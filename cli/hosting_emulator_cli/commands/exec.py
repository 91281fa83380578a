"""`exec`: run any command with an emulator of its own around it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli.conduct_reports import CONDUCT, rule_ids
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.options import as_option, examples
from hosting_emulator_cli.start_options import (
    address_options,
    check_seed,
    log_options,
    world_options,
)
from hosting_emulator_cli.values import duration_ms, read_with
from hosting_emulator_cli.varying import RawCommand, check_only, line_again, vary_options

#: What the command finds in its environment. The last two are there only with --tls-port.
VARIABLES = (
    *("HOSTING_BASE_URL", "HOSTING_DEV_BASE_URL", "HOSTING_TOKEN"),
    *("HOSTING_ORGANIZATION_ID", "HOSTING_PROJECT_ID", "HOSTING_CONTROL_URL"),
    *("HOSTING_EMULATOR_URL", "HOSTING_EMULATOR_WORLD"),
    *("HOSTING_TLS_URL", "HOSTING_CA_FILE"),
)
_VARIABLE_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def _exports(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Read repeated `NAME=OTHER`s as pairs."""
    return [_export(text, ctx, param) for text in texts]


def _export(text: str, ctx: click.Context, param: click.Parameter) -> tuple[str, str]:
    name, _, other = text.partition("=")
    if not _VARIABLE_NAME.fullmatch(other):
        message = f"{text!r} is not NAME=OTHER, such as HOSTING_BASE_URL=API_URL"
        raise click.BadParameter(message, ctx=ctx, param=param)
    if name not in VARIABLES:
        from hosting_emulator.contract.words import nearest

        hint = nearest(name, VARIABLES) or f"; there are {', '.join(VARIABLES)}"
        raise click.BadParameter(f"no variable is {name!r}{hint}", ctx=ctx, param=param)
    return name, other


export_option = click.option(
    "--export",
    "exports",
    multiple=True,
    metavar="NAME=OTHER",
    callback=_exports,
    help="Call the variable NAME otherwise, as in HOSTING_BASE_URL=API_URL; repeatable.",
)


def _patience_s(text: str) -> float | None:
    """Read how long to wait: a duration, or None for `never`."""
    return None if text == "never" else duration_ms(text) / 1000


@click.command(
    "exec",
    cls=RawCommand,
    # What follows the first word is the command's own, whether `--` stands before it or not.
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "hosting-emulator exec -- node --test",
        "hosting-emulator exec --clock skip --scenario provider-outage -- ./smoke.sh",
        "hosting-emulator exec --export HOSTING_BASE_URL=API_URL -- go test ./...",
        "hosting-emulator exec --vary 7 --shrink -- pytest -x",
        "hosting-emulator exec --keep failed.json -- make e2e",
        "hosting-emulator start --ephemeral --from failed.json   # and look around",
        "hosting-emulator exec -- bash                           # a shell with the variables",
    ),
)
@world_options
@vary_options
@click.option(
    "--shrink",
    is_flag=True,
    help="If CMD fails with --vary, run it again and again with ever fewer points, until the ones "
    "that matter are left; at most some forty times.",
)
@as_option
@export_option
@address_options(port=0)
@log_options
@click.option(
    "--report",
    type=click.Choice(["failed", "always", "never"]),
    default="failed",
    show_default=True,
    help="When to tell on stderr what happened: the requests with their answers and why, what is "
    "pending, the faults, the clock.",
)
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the world to this file if CMD fails; `start --from FILE` opens it.",
)
@click.option(
    "--kill-after",
    "patience_s",
    callback=read_with(_patience_s),
    default="10s",
    show_default=True,
    metavar="DURATION",
    help="How long CMD may take to end after Ctrl-C or another signal, before it is made to; "
    "`never` waits, for CMDs that live with Ctrl-C.",
)
@click.option(
    "--conduct",
    type=click.Choice(CONDUCT),
    default="off",
    show_default=True,
    help="Tell on stderr what CMD did that the real service would not bear; with `error` the exit "
    "code is then 1. See `hosting-emulator conduct`.",
)
@click.option(
    "--conduct-off",
    multiple=True,
    metavar="RULE",
    help="Leave a rule of conduct out; repeatable.",
)
@click.option("--quiet", is_flag=True, help="Say nothing: no report either, unless asked for.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARGS]...")
@click.pass_context
def exec_(
    ctx: click.Context,
    /,
    command: tuple[str, ...],
    principal: str,
    exports: list[tuple[str, str]],
    report: str,
    keep: Path | None,
    patience_s: float | None,
    quiet: bool,
    conduct: str,
    conduct_off: tuple[str, ...],
    shrink: bool,
    assume: dict[str, str],
    **same: Any,
) -> None:
    """Run a command with a fresh emulator around it, and end as it ends.

    `exec -- CMD [ARGS]` begins CMD once the emulator answers, on a free port. CMD finds it by its
    environment:

    \b
      HOSTING_BASE_URL         where the API is; HOSTING_DEV_BASE_URL its development server
      HOSTING_TOKEN            an access token for --as, good for ten years of world time
      HOSTING_ORGANIZATION_ID  an organization, and HOSTING_PROJECT_ID a project of it
      HOSTING_CONTROL_URL      the control API: clock, faults, requests and more
      HOSTING_EMULATOR_URL     for `hosting-emulator ...` inside CMD, as HOSTING_EMULATOR_WORLD
      HOSTING_TLS_URL          with --tls-port, and HOSTING_CA_FILE, the authority to trust

    Nothing is kept and nothing is left: the emulator ends with CMD, and so does whatever CMD left
    running. Ctrl-C ends both; a second one ends them at once.

    The exit code is CMD's own: 127 if there is no CMD, 126 if it cannot be run, 128+N after signal
    N. It is 2 if the emulator could not start; CMD then did not run.
    """
    if not command:
        raise click.UsageError("say what to run: hosting-emulator exec -- CMD [ARGS]...")
    check_seed(ctx)
    check_only(ctx)
    if shrink and same["vary"] is None:
        raise click.UsageError("--shrink belongs to --vary: give a seed as well")
    if conduct_off and conduct == "off":
        raise click.UsageError("--conduct-off belongs to --conduct: give report or error as well")
    if keep is not None and not keep.absolute().parent.is_dir():
        raise Failure(f"cannot write {keep}: no such directory")
    from hosting_emulator.settings import Settings
    from hosting_emulator_cli.executing import Execution, execute
    from hosting_emulator_scenarios import FOLDER

    if quiet and ctx.get_parameter_source("report") is click.core.ParameterSource.DEFAULT:
        report = "never"
    settings = Settings(data_dir=None, assumptions=assume, library=FOLDER, **same)
    wanted = Execution(
        *(command, settings, principal, exports, report, keep, patience_s, quiet),
        *(conduct, tuple(rule_ids(conduct_off))),
    )
    if settings.vary is None:
        ctx.exit(execute(wanted))
    from hosting_emulator_cli.varied_runs import execute_varied

    ctx.exit(
        execute_varied(
            wanted, lambda only: line_again(ctx, str(settings.vary), only), shrinking=shrink
        )
    )
