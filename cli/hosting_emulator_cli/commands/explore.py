"""Implements `explore`, which runs a command repeatedly, each time with a different failure."""

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
#: The parameters whose options are needed in a command line that repeats a run.
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
#: uses them differently.
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
        "Try only the named faults. KIND is timeout, abort, rate_limit, connection_reset, "
        "gateway_error, truncate, empty_response, malformed_response, latency, slow_response (or "
        "`wire` for all of these), stalled_response, long_limit, abort:CODE, abort:* for all codes, "
        "gateway_error:STATUS, or the name of an effect that --outcomes adds. Repeatable."
    ),
    multiple=True,
    callback=opt.read_words(f"{_FAULT_POINTS}:check_faults"),
)
@opt.flag(
    "--outcomes",
    help=(
        "Try effects that persist, such as an operation that fails or gets stuck, a request that is "
        "refused every time, an expired token, or an outage that never ends. Other faults are tried "
        "only if they are named in --faults."
    ),
)
@opt.flag(
    "--quick",
    help="Perform only the most informative tenth of the runs, but at least six.",
)
@opt.option(
    "--call",
    "calls",
    metavar="CALL",
    help="Inject faults only into requests to this call, such as create_user_api_key. Repeatable.",
    multiple=True,
    callback=opt.read_words(f"{_FAULT_POINTS}:check_calls"),
)
@run_options(
    default_jobs="three per processor, at least 4 and at most 16",
    limited="run",
    longer_limits="For the effects that --outcomes adds, the default is twice as long.",
)
@opt.option(
    "--max-runs",
    metavar="N",
    help="Perform at most N runs with faults, distributed over the requests.",
    type=WholeNumber(1),
    default=300,
)
@budget_option("Stop after this much time, and report the results so far.")
@opt.option(
    "--trial",
    "point",
    metavar="TRIAL",
    help=(
        "Repeat only this trial from a report (CALL#N/FAULT/PHASE), and show CMD's output. Cannot "
        "be used with --json, --results, --junit or --html."
    ),
    type=TextType("trial", _read_point),
)
@opt.choice(
    "--conduct",
    choices=CONDUCT,
    help=(
        "Check how CMD behaves as a client. With `report`, findings of severity warning or error "
        "are reported, and an error makes the exit code 1. With `error`, a warning does so, too. "
        "`off` disables the check."
    ),
    default="report",
)
@opt.option(
    "--results",
    "results_file",
    metavar="FILE",
    help=(
        "File in which the results are stored, so that an interrupted exploration can be continued."
    ),
)
@opt.sealed_option
@opt.explored_world_options
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
    succeed. For the requests in a clean run, `explore` then runs CMD again with each fault that is
    worth trying. The fault acts before the request takes effect. If it can make a difference,
    another run tries the fault after the request has taken effect. Each run has its own world. By
    default, the clock of the world is `skip`, so polls advance it. CMD gets the same environment
    variables as with `exec`. The options --scenario, --seed, --clock, --at, --assume and --user can
    also be set in a settings file in this directory (see `start`).

    The report lists the faults that CMD survived and those that made it fail or hang. It also lists
    the faults after which CMD succeeded, but had done something twice or left a different result
    than in the clean run. With --outcomes, giving up also counts as surviving, but reporting
    success anyway, crashing or retrying in vain does not. For each fault that CMD did not survive,
    the report contains a command line that repeats the run.

    The report also lists TCP connections from CMD to other machines, one of which may be the real
    service. This works only on Linux, and may miss brief connections. --sealed prevents such
    connections.

    The exit code is 0 if CMD survived all faults that were tried, 1 if it did not or broke a
    conduct rule (see --conduct), 2 if CMD could not be explored or the results are inconclusive,
    and 130 after Ctrl-C, when the results so far are still reported.
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
        # An imported world has its own clock, which cannot be set when the world is created.
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
