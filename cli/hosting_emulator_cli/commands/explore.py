"""`explore`: run a command again and again, each time with a different failure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
from hosting_emulator_cli.settings_command import SettingsCommand, settings_of
from hosting_emulator_cli.value_types import TextType, WholeNumber, read_limit

if TYPE_CHECKING:
    from hosting_emulator_lab.judge.fault_points import FaultPoint

_FAULT_POINTS = "hosting_emulator_lab.judge.fault_points"
#: The parameters whose options must be in a command line that repeats a run.
_RUN_PARAMETERS = ("scenario", "state", "seed", "clock", "at", "assume", "user", "exports")
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
@opt.option(
    "-j",
    "--jobs",
    metavar="N",
    help="Number of parallel runs. Default: three per processor, at least 4 and at most 16.",
    type=WholeNumber(1, 64),
)
@opt.option(
    "--max-runs",
    metavar="N",
    help="Make at most this many runs, spread over all requests.",
    type=WholeNumber(1),
    default=300,
)
@opt.option(
    "--time-limit",
    "limit_s",
    metavar="DURATION",
    help=(
        "End a run that takes longer than this time. Default: 10s or three times the duration of the "
        "clean run, whichever is longer. For the failures of --outcomes, this default is "
        "doubled."
    ),
    type=TextType("duration", read_limit),
)
@opt.option(
    "--budget",
    "budget_s",
    metavar="DURATION",
    help="Stop after this time, and report the results so far.",
    type=TextType("duration", read_limit),
)
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
@opt.world_options
@opt.user_option
@export_option
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

    The exit code is 0 if CMD survived all runs, 1 if it did not or broke rules of conduct, 2 if CMD
    could not be explored, and 130 after Ctrl-C. After Ctrl-C, `explore` still reports the results
    so far.
    """
    from hosting_emulator_cli import exploration

    files = [results_file, junit_file, html_file]
    uses_skip = clock is None and settings_options["state"] is None
    if uses_skip:
        clock = "skip"
    settings = settings_of(port=0, data_dir=None, clock=clock, **settings_options)
    if point is not None and (as_json or any(files)):
        raise click.UsageError(
            "--trial makes one trial and writes no reports: leave out --json, --results, --junit and --html"
        )
    for path in files:
        check_folder_of(path)
    run_words = _typed_words(_RUN_PARAMETERS)
    explore_words = [*run_words, *_typed_words(_EXPLORE_PARAMETERS)]
    if uses_skip:
        run_words += ["--clock", "skip"]
    run_words += ["--conduct", "report"]

    def repeat_line(point: FaultPoint) -> str:
        words = ["hosting-emulator", "explore", *explore_words, "--trial", str(point)]
        return shlex.join([*words, "--", *command])

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
            conduct=conduct,
            results_file=results_file,
            junit_file=junit_file,
            html_file=html_file,
            as_json=as_json,
            point=point,
            repeat=repeat_line,
            repeat_clean=shlex.join(["hosting-emulator", "exec", *run_words, "--", *command]),
        )
    )


def _typed_words(names: Iterable[str]) -> list[str]:
    """Return the words that the user typed for the parameters in `names`, in this order."""
    words_by_name = typed_words()
    words: list[str] = []
    for name in names:
        words += words_by_name.get(name, [])
    return words
