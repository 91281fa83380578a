"""Implements `judge`, which finds out whether a client would survive the real service."""

from __future__ import annotations

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
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.settings_command import SettingsCommand, settings_of
from hosting_emulator_cli.value_types import TextType

if TYPE_CHECKING:
    from hosting_emulator_lab.judge.trials import Trial

#: The parameters whose options are needed in a command line that repeats a trial.
_TRIAL_PARAMETERS = (
    "scenario",
    "state",
    "seed",
    "at",
    "assume",
    "user",
    "exports",
    "limit_s",
    "sealed",
)


def _read_trial(text: str) -> Trial:
    """Parse a trial, such as `create_user_api_key#1/timeout/before_commit`. Raises ValueError."""
    from hosting_emulator_lab.judge.trials import read_trial

    return read_trial(text)


@click.command(
    cls=SettingsCommand,
    context_settings=COMMAND_SETTINGS,
    epilog=examples(
        """
        hosting-emulator judge -- npm test
        hosting-emulator judge --budget 5m --html report.html -- go test ./...
        hosting-emulator judge \\
            --trial 'create_user_api_key#1/timeout/after_commit' -- python deploy.py
        """
    ),
)
@budget_option(
    "How long to keep trying. The most informative trials are performed first. A clean run that takes "
    "longer is terminated. A trial that is still in progress 20 seconds after the budget is used up is "
    "terminated, and counts as not tried.",
    default="60s",
)
@opt.choice(
    "--severity",
    choices=("note", "warning", "error"),
    help="The exit code is 1 if there is a cause of this severity or worse.",
    default="warning",
)
@opt.option(
    "--trial",
    metavar="TRIAL",
    help=(
        "Repeat only this trial from a report, and show CMD's output. Cannot be used with --json, "
        "--junit or --html."
    ),
    type=TextType("trial", _read_trial),
)
@run_options(
    default_jobs="depends on the processors, up to eight per processor and at most 32",
    limited="trial",
    longer_limits=(
        "For failures that persist and for responses that never arrive, the default may be longer."
    ),
)
@opt.skip_rule_option("Do not check this conduct rule. Repeatable.")
@opt.sealed_option
@opt.judged_world_options
@opt.user_option
@export_option
@report_options
@command_argument
def judge(
    command: tuple[str, ...],
    budget_s: float,
    severity: Any,
    trial: Trial | None,
    jobs: int | None,
    limit_s: float | None,
    skip_rules: tuple[str, ...],
    sealed: bool,
    user: str | None,
    exports: tuple[tuple[str, str], ...],
    as_json: bool,
    junit_file: Path | None,
    html_file: Path | None,
    **settings_options: Any,
) -> int:
    """Find out whether a command would survive the real service.

    `judge -- CMD [ARGS]` runs CMD many times, each time in a fresh world, and reports what CMD does
    wrong. For each cause, the report contains the evidence, the sentence in the contract or in a
    standard, the remedy, and a command line that reproduces the failure. CMD may be a program or a
    test suite in any language. It gets the same environment variables as with `exec`, and must exit
    with code 0 if nothing goes wrong. The options --scenario, --seed, --at, --assume and --user can
    also be set in a settings file in this directory (see `start`).

    Three clean runs, in which nothing goes wrong, must succeed. If CMD fails only with a base URL
    that has a path, a run without the path replaces that run. The conduct rules are checked in
    these runs. In most trials, something goes wrong: for example, a response is lost, late or
    unreadable, the service refuses a request, an operation fails or never ends, or the token
    expires. Other trials vary responses where the contract leaves a choice, or alter part of a
    response. A cause found in a trial is only a note unless a trial shows it while no other run is
    in progress.

    The report also lists TCP connections from CMD to other machines, one of which may be the real
    service. This works only on Linux, and may miss brief connections. --sealed prevents such
    connections.

    The exit code is 0 if CMD survived, 1 if a cause of severity warning or worse was found (see
    --severity), 2 if CMD could not be judged, and 130 after Ctrl-C, when the causes found so far
    are still reported. CMD survived only if each kind of failure that is planned for a call was
    tried there, and if the trials include an expired token and varied responses.
    """
    from hosting_emulator_cli import judging, sealing

    check_report_files(trial, as_json=as_json, files={"--junit": junit_file, "--html": html_file})
    # Do not set a clock for an imported world: it has its own clock, and each run overrides it.
    clock = "skip" if settings_options["state"] is None else None
    settings = settings_of(port=0, data_dir=None, clock=clock, **settings_options)
    option_words = words_of(_TRIAL_PARAMETERS)
    if sealed:
        sealing.seal(settings.host)
    return judging.judge(
        judging.CommandJudgment(
            command=command,
            settings=settings,
            user=user,
            exports=exports,
            budget_s=budget_s,
            limit_s=limit_s,
            jobs=jobs,
            severity=severity,
            skip_rules=skip_rules,
            trial=trial,
            junit_file=junit_file,
            html_file=html_file,
            as_json=as_json,
            sealed=sealed,
            repeat=lambda text: repeat_line("judge", option_words, text, command),
        )
    )
