"""The arguments and options that `judge`, `explore` and `exec` share."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.client_variables import VARIABLES
from hosting_emulator_cli.files import check_folder_of
from hosting_emulator_cli.main import near
from hosting_emulator_cli.settings_command import TYPED
from hosting_emulator_cli.value_types import TextType, WholeNumber, read_limit

#: With these context settings, all words after the first word of CMD are part of CMD.
COMMAND_SETTINGS = {"allow_interspersed_args": False}


def _require_command(
    ctx: click.Context, param: click.Parameter, command: tuple[str, ...]
) -> tuple[str, ...]:
    if not command:
        line = f"hosting-emulator {ctx.info_name} -- CMD [ARGS]..."
        raise click.UsageError(f"give a command to run: {line}")
    if not command[0]:
        raise click.UsageError("CMD is empty; give the name of a program to run")
    is_exec = Path(command[0]).name == "hosting-emulator" and command[1:2] == ("exec",)
    if is_exec and ctx.info_name != "exec":
        raise click.UsageError(
            f"{ctx.info_name} starts an emulator itself, and sees no request to the one that `exec` "
            f"starts; leave out `exec`: hosting-emulator {ctx.info_name} -- CMD [ARGS]..."
        )
    return command


def _read_export(text: str) -> tuple[str, str]:
    name, _, other_name = text.partition("=")
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", other_name):
        raise ValueError(
            f"{text!r} is not of the form NAME=OTHER, such as HOSTING_BASE_URL=API_URL"
        )
    if name not in VARIABLES:
        raise ValueError(f"there is no variable {name!r}{near(name, VARIABLES)}")
    return name, other_name


command_argument = click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="-- CMD [ARGS]...",
    callback=_require_command,
)
export_option = opt.option(
    "--export",
    "exports",
    metavar="NAME=OTHER",
    help=(
        "Pass the variable NAME to CMD under another name, as in HOSTING_BASE_URL=API_URL. "
        "Repeatable."
    ),
    multiple=True,
    type=TextType("export", _read_export),
)
#: The command's parameters are `as_json`, `junit_file` and `html_file`.
report_options = opt.options(
    opt.json_option,
    opt.option(
        "--junit",
        "junit_file",
        metavar="FILE",
        help="Write a JUnit report to this file.",
    ),
    opt.option(
        "--html",
        "html_file",
        metavar="FILE",
        help="Write a self-contained HTML page to this file.",
    ),
)


def budget_option(help: str, default: str | None = None) -> opt.Decorator[Any]:
    """Declare `--budget`. The command's parameter is `budget_s`, in real seconds."""
    return opt.option(
        "--budget",
        "budget_s",
        metavar="DURATION",
        help=help,
        type=TextType("duration", read_limit),
        default=default,
    )


def run_options(*, default_jobs: str, limited: str, longer_limits: str) -> opt.Decorator[Any]:
    """Declare `--jobs` and `--time-limit` for a command that performs many runs.

    `default_jobs` describes the default number of parallel runs, `limited` says what the time limit
    applies to (`run` or `trial`), and `longer_limits` is a sentence about a longer default time
    limit. The command's parameters are `jobs`, and `limit_s` in real seconds.
    """
    return opt.options(
        opt.option(
            "-j",
            "--jobs",
            metavar="N",
            help=f"Perform at most N runs in parallel. Default: {default_jobs}.",
            type=WholeNumber(1, 64),
        ),
        opt.option(
            "--time-limit",
            "limit_s",
            metavar="DURATION",
            help=(
                f"Terminate a {limited} that takes longer than this. Default: 10s or three times "
                f"the duration of the clean run, whichever is longer. {longer_limits}"
            ),
            type=TextType("duration", read_limit),
        ),
    )


def check_report_files(
    trial: object | None, *, as_json: bool, files: Mapping[str, Path | None]
) -> None:
    """Check the files of reports, which are given by the names of their options.

    Raises UsageError if there is a `trial`, which has no reports, and Failure if the folder of a file
    does not exist.
    """
    if trial is not None and (as_json or any(files.values())):
        *names, last_name = ["--json", *files]
        raise click.UsageError(
            "--trial makes one trial and writes no reports: "
            f"leave out {', '.join(names)} and {last_name}"
        )
    for path in files.values():
        check_folder_of(path)


def repeat_line(
    tool: str, option_words: Iterable[str], trial: object, command: Sequence[str]
) -> str:
    """Return the command line that repeats a tool's trial."""
    words = ["hosting-emulator", tool, *option_words, "--trial", str(trial), "--", *command]
    return shlex.join(words)


def words_of(parameters: Iterable[str]) -> list[str]:
    """Return the words that the user typed for the options of some parameters, in their order."""
    words_by_name = typed_words()
    words: list[str] = []
    for name in parameters:
        words += words_by_name.get(name, [])
    return words


def typed_words() -> dict[str, list[str]]:
    """Return the words that the user typed for each option, by parameter name.

    In `--at now`, `now` is replaced with the current time.
    """
    ctx = click.get_current_context()
    options = {flag: param for param in ctx.command.params for flag in param.opts}
    words = iter(ctx.meta[TYPED][: -len(ctx.params["command"])])
    words_by_name: dict[str, list[str]] = {}
    for word in words:
        option = options.get(word.partition("=")[0])
        if not isinstance(option, click.Option):
            continue
        option_words = words_by_name.setdefault(str(option.name), [])
        option_words.append(word)
        if not option.is_flag and "=" not in word:
            option_words.append(next(words))
    if "at" in words_by_name:  # in a later run, `now` would be a different time
        words_by_name["at"] = ["--at", ctx.params["at"]]
    return words_by_name
