"""`explore`: run a command again and again, each time with a different failure."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.command_runs import (
    COMMAND_SETTINGS,
    budget_option,
    check_report_files,
    command_argument,
    export_option,
    repeat_line,
    report_options,
    run_options,
    words_of,
)
from hosting_emulator_cli.commands.conduct import CONDUCT
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.settings_command import SettingsCommand, settings_of
from hosting_emulator_cli.value_types import TextType, WholeNumber

if TYPE_CHECKING:
    from hosting_emulator_lab.judge.fault_points import FaultPoint

_FAULT_POINTS = "hosting_emulator_lab.judge.fault_points"
#: The parameters whose options must be in a command line that repeats a run.
_RUN_PARAMETERS = (
    "scenario",
    "state",
    "seed",
    "clock",
    "at",
    "assume",
    "user",
    "exports",
    "sealed",
)
#: The parameters whose options must not be passed to `exec`, because `exec` does not have them or
#: gives them another meaning.
_EXPLORE_PARAMETERS = ("limit_s", "conduct")


def _read_point(text: str) -> FaultPoint:
    """Parse a fault point, such as `create_user_api_key#1/timeout/before_commit`.

    Raises ValueError if the text has another form.
    """
    from hosting_emulator_lab.judge.fault_points import FaultPoint

    return FaultPoint.read(text)


@click.command(
    cls=SettingsCommand,
    context_settings=COMMAND_SETTINGS,
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
            --trial 'create_user_api_key#1/timeout/after_commit' -- ./smoke.sh
        """
    ),
)
@opt.option(
    "--faults",
    metavar="KIND,...",
    help=(
        "Try only these faults: kinds such as timeout (`fault kinds` lists all kinds), abort:CODE, "
        "gateway_error:STATUS, abort:* for every code, `wire` for all kinds, or a failure that "
        "--outcomes includes. Repeatable."
    ),
    multiple=True,
    callback=opt.read_words(f"{_FAULT_POINTS}:check_faults"),
)
@opt.flag(
    "--outcomes",
    help=(
        "Try lasting failures, such as an operation that fails or is stuck, a request that is "
        "refused every time, an expired token or an endless outage. Other faults are tried only if "
        "--faults names them."
    ),
)
@opt.flag(
    "--quick",
    help="Make only the most informative tenth of the runs, but at least six.",
)
@opt.option(
    "--call",
    "calls",
    metavar="CALL",
    help="Apply faults only to requests to these calls, such as create_user_api_key. Repeatable.",
    multiple=True,
    callback=opt.read_words(f"{_FAULT_POINTS}:check_calls"),
)
@run_options(
    default_jobs="three per processor, at least 4 and at most 16",
    longer_limits="For the failures of --outcomes, this default is doubled.",
)
@opt.option(
    "--max-runs",
    metavar="N",
    help="Make at most this many runs, spread over all requests.",
    type=WholeNumber(1),
    default=300,
)
@budget_option("Stop after this time, and report the results so far.")
@opt.option(
    "--trial",
    "point",
    metavar="TRIAL",
    help="Make only this trial from a report (CALL#N/FAULT/PHASE), and show CMD's output.",
    type=TextType("trial", _read_point),
)
@opt.choice(
    "--conduct",
    choices=CONDUCT,
    help=(
        "Report conduct findings of severity warning or worse. A finding of severity error makes "
        "the exit code 1, and with `error`, a warning does so too. `off` skips the check."
    ),
    default="report",
)
@opt.option(
    "--results",
    "results_file",
    metavar="FILE",
    help="Store the results in this file, so that an interrupted exploration can continue.",
)
@opt.sealed_option
@opt.world_options
@opt.user_option
@export_option
@report_options
@command_argument
def explore(
    command: tuple[str, ...],
    faults: tuple[str, ...],
    outcomes: bool,
    quick: bool,
    calls: tuple[str, ...],
    jobs: int | None,
    max_runs: int,
    limit_s: float | None,
    budget_s: float | None,
    point: FaultPoint | None,
    conduct: Any,
    results_file: Path | None,
    sealed: bool,
    user: str | None,
    exports: tuple[tuple[str, str], ...],
    as_json: bool,
    junit_file: Path | None,
    html_file: Path | None,
    clock: str | None,
    **settings_options: Any,
) -> int:
    """Find the failures that a command does not survive.

    `explore -- CMD [ARGS]` first runs CMD twice without faults. Both of these clean runs must
    succeed. For each request of a clean run, `explore` then runs CMD again with each fault worth
    trying: before the request takes effect and, if that can make a difference, after it. Each run
    has its own world. By default, the world's clock is `skip`, so that polling moves the time. CMD
    gets the same environment variables as with `exec`.

    The report lists the faults that CMD survived, and the faults with which CMD failed or hung. The
    report also lists the faults with which CMD succeeded but did something twice or left a
    different result than the clean run. With --outcomes, CMD also survives if it gives up, but not
    if it claims success anyway, crashes, or retries in vain. For each fault that CMD did not
    survive, the report contains a command line that repeats the run.

    The report names CMD's TCP connections to other machines, which may be the real service. Only
    Linux shows these, and connections shorter than a second can be missed. --sealed prevents them.

    The exit code is 0 if CMD survived all runs, 1 if it did not or broke rules of conduct, 2 if CMD
    could not be explored, and 130 after Ctrl-C. After Ctrl-C, `explore` still reports the results
    so far.
    """
    from hosting_emulator_cli import exploration, sealing
    from hosting_emulator_lab.run_conditions import ORDINARY, RunConditions

    files = {"--results": results_file, "--junit": junit_file, "--html": html_file}
    check_report_files(point, as_json=as_json, files=files)
    conditions = ORDINARY
    uses_skip = clock is None and settings_options["state"] is None
    if uses_skip:
        clock = "skip"
    elif settings_options["state"] is not None:
        # An imported world brings its own clock, which cannot be set at its start.
        conditions = RunConditions(clock="skip")
    settings = settings_of(port=0, data_dir=None, clock=clock, **settings_options)
    run_words = words_of(_RUN_PARAMETERS)
    explore_words = [*run_words, *words_of(_EXPLORE_PARAMETERS)]
    if uses_skip:
        run_words += ["--clock", "skip"]
    run_words += ["--conduct", "report"]
    if sealed:
        sealing.seal(settings.host)
    return exploration.explore(
        exploration.CommandExploration(
            command=command,
            settings=settings,
            user=user,
            exports=exports,
            faults=faults,
            calls=calls,
            jobs=jobs,
            max_runs=max_runs,
            outcomes=outcomes,
            quick=quick,
            limit_s=limit_s,
            budget_s=budget_s,
            conditions=conditions,
            conduct=conduct,
            results_file=results_file,
            junit_file=junit_file,
            html_file=html_file,
            as_json=as_json,
            point=point,
            sealed=sealed,
            repeat=lambda trial: repeat_line("explore", explore_words, trial, command),
            repeat_clean=shlex.join(["hosting-emulator", "exec", *run_words, "--", *command]),
        )
    )
