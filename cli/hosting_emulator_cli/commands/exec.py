"""Implements `exec`, which runs a command with its own emulator."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator import EXEC_CONDUCT_VARIABLE
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.command_runs import (
    COMMAND_SETTINGS,
    command_argument,
    export_option,
    typed_words,
)
from hosting_emulator_cli.commands.conduct import CONDUCT
from hosting_emulator_cli.files import check_folder_of
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.parameter_sources import is_default
from hosting_emulator_cli.settings_command import SettingsCommand, settings_of
from hosting_emulator_cli.value_types import TextType, read_seconds

if TYPE_CHECKING:
    from hosting_emulator_cli.varied_execution import RepeatLine


def _read_patience(text: str) -> float:
    """Convert a duration to seconds, and `never` to infinity. Raises ValueError."""
    if text == "never":
        return inf
    return read_seconds(text)


@click.command(
    "exec",
    cls=SettingsCommand,
    context_settings=COMMAND_SETTINGS,
    epilog=examples(
        """
        hosting-emulator exec -- node --test
        hosting-emulator exec --clock skip --scenario provider-outage -- ./smoke.sh
        hosting-emulator exec --export HOSTING_BASE_URL=API_URL -- go test ./...
        hosting-emulator exec --vary 7 --shrink -- pytest -x
        hosting-emulator exec --failed-world failed.json -- make e2e
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
        "With --vary, if CMD fails, search for the smallest set of variation points with which it "
        "still fails. The search takes up to 41 runs."
    ),
)
@opt.user_option
@export_option
@opt.address_options(port=0, port_help="TCP port to listen on. Default: a free port.")
@opt.log_options
@opt.choice(
    "--report",
    choices=("failed", "always", "never"),
    help=(
        "When to print a report on the run to stderr. The report lists the requests with their "
        "responses and the reasons for them, pending operations, faults and the clock."
    ),
)
@opt.option(
    "--failed-world",
    metavar="FILE",
    help=(
        "If CMD ran and the exit code is not 0, write the world to this file. To open it, run "
        "`start --ephemeral --import FILE`. Up to 20 other worlds that received requests, the most "
        "recently created ones, are written to files in the same folder."
    ),
)
@opt.option(
    "--kill-after",
    "patience_s",
    metavar="DURATION",
    help=(
        "How long to wait for CMD to exit after Ctrl-C or another signal before killing it. Use "
        "`never` if CMD handles Ctrl-C itself."
    ),
    type=TextType("duration", _read_patience),
    default="10s",
)
@opt.choice(
    "--conduct",
    choices=CONDUCT,
    help=(
        "Check how CMD behaves as a client, and report its mistakes to stderr. With `error`, the "
        "exit code is 1 if CMD succeeded but there is a finding of severity warning or error. If "
        "CMD itself runs `exec`, that `exec` uses the same value by default. See "
        "`hosting-emulator conduct`."
    ),
)
@opt.skip_rule_option("With --conduct, do not check this conduct rule. Repeatable.")
@opt.sealed_option
@opt.flag(
    "--quiet",
    help=(
        "Apart from CMD's own output and the log, print only warnings, errors and the results of "
        "--conduct and --shrink, and the report only if --report is set."
    ),
)
@command_argument
def exec_(
    command: tuple[str, ...],
    user: str | None,
    exports: tuple[tuple[str, str], ...],
    report: str,
    failed_world: Path | None,
    patience_s: float,
    conduct: str,
    skip_rules: tuple[str, ...],
    sealed: bool,
    quiet: bool,
    shrink: bool,
    **settings_options: Any,
) -> int:
    """Run a command with a fresh emulator, and exit with the command's exit code.

    `exec -- CMD [ARGS]` starts an emulator and runs CMD with the environment variables below. The
    options --scenario, --seed, --clock, --at, --assume, --vary, --vary-only and --user can also be
    set in a settings file in this directory (see `start`).

    \b
      HOSTING_BASE_URL           the API
      HOSTING_DEV_BASE_URL       the API, as the contract's development server
      HOSTING_TOKEN              a token for --user, for ten years of world time
      HOSTING_ORGANIZATION_ID    the token's organization, or else the project's
      HOSTING_PROJECT_ID         a project (of this organization, if it has one)
      HOSTING_CONTROL_URL        the control API: clock, faults, requests and more
      HOSTING_ISSUER_URL         the identity provider, for OpenID discovery
      HOSTING_EMULATOR_URL       the emulator, for commands of this tool in CMD
      HOSTING_EMULATOR_WORLD     the world, for commands of this tool in CMD
      HOSTING_EMULATOR_EXEC_URL  the emulator, for the pytest plugin and the SDK
      HOSTING_TLS_URL            the dev origins, with --tls-port
      HOSTING_CA_FILE            the authority to trust, with --tls-port

    When CMD exits, `exec` stops the emulator and any processes that CMD left running, and deletes
    the state. Ctrl-C is passed on to CMD, and `exec` ends when CMD has exited (see --kill-after).
    Except with `--kill-after never`, a second Ctrl-C kills CMD immediately. `exec` then writes no
    report, gives no verdict and saves no world.

    The exit code is that of CMD, 127 if CMD was not found, 126 if CMD could not be run, and 128+N
    after signal N. It is 2, and CMD is not run, if the emulator could not start or if --sealed was
    refused. If CMD succeeded, the exit code is 1 if `--conduct error` found mistakes, and 2 if
    --conduct could not reach a verdict or `--report always` could not print a report. Possible
    reasons are that no request reached the emulator (only with `--conduct error`), that the
    emulator did not respond when CMD exited, or that a check itself failed.

    The verdict covers all worlds in this emulator, including those that CMD created, reset or
    deleted. The report covers up to five of the worlds that received requests, the most recently
    created ones. The report and --conduct also list TCP connections from CMD to other machines. This
    works only on Linux, and may miss brief connections. --sealed prevents such connections.
    """
    from hosting_emulator_cli import execution, sealing, varied_execution

    settings = settings_of(data_dir=None, **settings_options)
    if shrink and settings.vary is None:
        raise click.UsageError("--shrink needs --vary SEED")
    if is_default("conduct"):
        conduct = _outer_conduct() or conduct
    if skip_rules and conduct == "off":
        raise click.UsageError("--skip-rule needs --conduct=report or --conduct=error")
    check_folder_of(failed_world)
    if quiet and is_default("report"):
        report = "never"
    if sealed:
        sealing.seal(settings.host)
    plan = execution.Execution(
        command=command,
        settings=settings,
        user=user,
        exports=exports,
        report=report,
        failed_world=failed_world,
        patience_s=patience_s,
        quiet=quiet,
        conduct=conduct,
        skip_rules=skip_rules,
        sealed=sealed,
    )
    if settings.vary is None:
        return execution.execute(plan).code
    typed: list[str] = []
    for name, option_words in typed_words().items():
        if name not in ("vary", "vary_only", "shrink"):
            typed += option_words
    repeat_line = _repeat_line(typed, settings.vary, command)
    return varied_execution.execute_varied(plan, repeat_line, shrinking=shrink)


def _outer_conduct() -> str | None:
    """Return the value of `--conduct` in an outer `exec`, or None if no `exec` runs this command."""
    level = os.environ.get(EXEC_CONDUCT_VARIABLE)
    if level in CONDUCT:
        return level
    return None


def _repeat_line(typed: Sequence[str], seed: str, command: Sequence[str]) -> RepeatLine:
    """Return a function that returns the command line that repeats a run with variation.

    `typed` contains the words that the user typed for all other options.
    """

    def repeat_line(points: Sequence[str] | None) -> str:
        words = ["hosting-emulator", "exec", *typed, "--vary", seed]
        for point in points or ():
            words += ["--vary-only", point]
        return shlex.join([*words, "--", *command])

    return repeat_line
