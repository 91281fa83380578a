"""`contract check`: hold any server that claims to speak the contract against it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.options import examples, json_option
from hosting_emulator_cli.values import duration_ms, named_values, read_with

F = TypeVar("F", bound=Callable[..., Any])

#: As `hosting_emulator.contract_check.ALLOWED`, which is not loaded before it is wanted.
ALLOWED = ("flag", "source", "keys", "domains", "tickets")


def _seconds(text: str) -> float:
    return duration_ms(text) / 1000


def _allowed(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    """Read words between commas, `all` being all of them."""
    words = {word.strip() for text in texts for word in text.split(",") if word.strip()}
    if unknown := words - {*ALLOWED, "all"}:
        from hosting_emulator.contract.words import nearest

        word = min(unknown)
        hint = nearest(word, (*ALLOWED, "all")) or f"; it is all, or some of {', '.join(ALLOWED)}"
        raise click.BadParameter(f"nothing is called {word!r}{hint}", ctx=ctx, param=param)
    return frozenset(ALLOWED if "all" in words else words)


def _token(name: str, whose: str) -> Callable[[F], F]:
    variable = f"HOSTING_{name.upper().replace('-', '_')}"
    return click.option(
        f"--{name}", envvar=variable, show_envvar=True, metavar="TOKEN", help=f"{whose}."
    )


@click.command(
    "check",
    epilog=examples(
        "hosting-emulator contract check --base-url https://staging.example --project 01J…",
        "hosting-emulator contract check --allow flag,tickets --scenario observed.yaml",
        "hosting-emulator exec -- hosting-emulator contract check --allow all",
    ),
)
@click.option(
    "--base-url",
    envvar="HOSTING_BASE_URL",
    show_envvar=True,
    required=True,
    metavar="URL",
    help="Where the server is, with /v1 at its end or without.",
)
@click.option(
    "--token",
    envvar="HOSTING_TOKEN",
    show_envvar=True,
    required=True,
    metavar="TOKEN",
    help="An access token of the project's owner, of an interactive session.",
)
@click.option(
    "--project",
    "project_id",
    envvar="HOSTING_PROJECT_ID",
    show_envvar=True,
    required=True,
    metavar="ID",
    help="The project to look at; one with some deployments shows more.",
)
@click.option(
    "--organization",
    "organization_id",
    envvar="HOSTING_ORGANIZATION_ID",
    show_envvar=True,
    required=True,
    metavar="ID",
    help="The project's organization.",
)
@click.option(
    "--allow",
    multiple=True,
    callback=_allowed,
    metavar="WORDS",
    help="What may be changed there: all, or some of flag, source, keys, domains, tickets with "
    "commas. Without it the check reads, and sends what must be refused.",
)
@_token("maintainer-token", "A token of one of the project's maintainers")
@_token("reader-token", "A token of one of the project's readers")
@_token("outsider-token", "A token of somebody of another organization")
@_token("no-organization-token", "A token that names no organization")
@_token("api-key", "A user API key; --allow keys creates one")
@click.option(
    "--assume",
    multiple=True,
    metavar="NAME=VALUE",
    callback=named_values,
    help="Say what the check could not find out: operation_path, cursor_parameter, "
    "limit_parameter or environment_parameter; repeatable.",
)
@click.option(
    "--origin-url",
    metavar="URL",
    help="Where dev origins answer, if their names cannot be resolved here.",
)
@click.option(
    "--ca-file",
    envvar="HOSTING_CA_FILE",
    show_envvar=True,
    metavar="FILE",
    help="Certificates of the authorities to trust.",
)
@click.option(
    "--timeout",
    "timeout_s",
    default="10s",
    show_default=True,
    callback=read_with(_seconds),
    metavar="DURATION",
    help="How long to wait for any one answer.",
)
@click.option(
    "--patience",
    "patience_s",
    default="2m",
    show_default=True,
    callback=read_with(_seconds),
    metavar="DURATION",
    help="How long to wait in all: for operations to end, and where the server says to wait.",
)
@click.option(
    "--no-waiting",
    is_flag=True,
    help="Wait nowhere, whatever the server says: for one whose time moves by itself, as that of "
    "`start --clock skip`.",
)
@click.option(
    "--scenario",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a scenario whose world answers as was observed.",
)
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the report to this file, as JUnit XML.",
)
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    allow: frozenset[str],
    assume: dict[str, str],
    no_waiting: bool,
    scenario: Path | None,
    junit: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Hold any server against the contract, sentence by sentence.

    Each sentence holds, differs, cannot be seen from outside, or is skipped, with the answers that
    show it or the reason. What the contract leaves open and the server answers otherwise than this
    emulator is printed as assumptions, ready for a scenario.

    It needs a project to look at, and does nothing there that it may not. Exit code 0: nothing
    differs. 1: something does. 2: the check could not be made.
    """
    from hosting_emulator.contract_check import CheckOptions, CheckRefused
    from hosting_emulator.contract_check import check as hold
    from hosting_emulator_cli import check_reports
    from hosting_emulator_cli.files import write_whole
    from hosting_emulator_cli.looks.progress import working
    from hosting_emulator_cli.output import put, put_json, say

    _check_ca_file(options["ca_file"])
    if no_waiting:
        options["pause"] = lambda seconds: None
    try:
        with working("Asking the server"):
            found = hold(CheckOptions(allow=allow, assumed=assume, **options))
    except CheckRefused as refused:
        raise Failure(str(refused)) from refused
    if as_json:
        put_json(found)
    else:
        put(check_reports.report_text(found))
    if scenario is not None:
        write_whole(scenario, check_reports.scenario_text(found))
        say(f"A scenario that answers so is written to {scenario}.")
    if junit is not None:
        write_whole(junit, check_reports.junit_text(found))
    if not as_json:
        say(check_reports.summary(found))
    ctx.exit(1 if found["summary"]["differs"] else 0)


def _check_ca_file(path: str | None) -> None:
    if path is not None and not os.access(path, os.R_OK):
        raise Failure(f"--ca-file: cannot read {path}")
