"""`contract check`: hold any server that claims to speak the contract against it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.output import put, put_json, say
from hosting_emulator_cli.parameters import SECONDS, named_values

#: As `hosting_emulator.contract_check.ALLOWED`, which is not loaded before it is needed.
ALLOWED = ("flag", "source", "keys", "domains", "tickets")


def _allowed(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    """Read words between commas, `all` being all of them."""
    words = {word.strip() for text in texts for word in text.split(",") if word.strip()}
    if unknown := words - {*ALLOWED, "all"}:
        from hosting_emulator.contract.words import nearest

        word = min(unknown)
        hint = nearest(word, (*ALLOWED, "all")) or f"; it is all, or some of {', '.join(ALLOWED)}"
        raise click.BadParameter(f"nothing is called {word!r}{hint}", ctx=ctx, param=param)
    return frozenset(ALLOWED if "all" in words else words)


def _given(declared: str, words: str, *, required: bool = True) -> Callable[..., Any]:
    """Declare an option that the environment of `exec` gives as well."""
    variable = f"HOSTING_{declared.split()[-2].lstrip('-').upper().replace('-', '_')}"
    return opt.option(declared, words, env=variable, required=required)


def _token(name: str, whose: str) -> Callable[..., Any]:
    return _given(f"--{name} TOKEN", f"{whose}.", required=False)


@click.command("check")
@_given("--base-url URL", "Where the server is, with /v1 at its end or without.")
@_given("--token TOKEN", "An access token of the project's owner, of an interactive session.")
@_given("--project project_id ID", "The project to look at; one with some deployments shows more.")
@_given("--organization organization_id ID", "The project's organization.")
@opt.option(
    "--allow WORDS",
    "What may be changed there: all, or some of flag, source, keys, domains, tickets with "
    "commas. Without it the check reads, and sends what must be refused.",
    multiple=True,
    callback=_allowed,
)
@_token("maintainer-token", "A token of one of the project's maintainers")
@_token("reader-token", "A token of one of the project's readers")
@_token("outsider-token", "A token of somebody of another organization")
@_token("no-organization-token", "A token that names no organization")
@_token("api-key", "A user API key; --allow keys creates one")
@opt.option(
    "--assume assumed NAME=VALUE",
    "Say what the check could not find out: operation_path, cursor_parameter, "
    "limit_parameter or environment_parameter; repeatable.",
    multiple=True,
    callback=named_values,
)
@opt.option("--origin-url URL", "Where dev origins answer, if their names cannot be resolved here.")
@_given("--ca-file FILE", "Certificates of the authorities to trust.", required=False)
@opt.option(
    "--timeout timeout_s DURATION",
    "How long to wait for any one answer.",
    type=SECONDS,
    default="10s",
)
@opt.option(
    "--patience patience_s DURATION",
    "How long to wait in all: for operations to end, and where the server says to wait.",
    type=SECONDS,
    default="2m",
)
@opt.flag(
    "--no-waiting",
    "Wait nowhere, whatever the server says: for one whose time moves by itself, as that of "
    "`start --clock skip`.",
)
@opt.file_option("--scenario", "Write a scenario whose world answers as was observed.")
@opt.junit_option
@opt.json_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    no_waiting: bool,
    scenario: Path | None,
    junit: Path | None,
    as_json: bool,
    **same: Any,
) -> None:
    """Hold any server against the contract, sentence by sentence.

    Each sentence holds, differs, cannot be seen from outside, or is skipped, with the answers that
    show it or the reason. What the contract leaves open and the server answers otherwise than this
    emulator is printed as assumptions, ready for a scenario.

    It needs a project to look at, and does nothing there that it may not. Exit code 0: nothing
    differs. 1: something does. 2: the check could not be made.

    Examples:
      hosting-emulator contract check --base-url https://staging.example --project 01J…
      hosting-emulator contract check --allow flag,tickets --scenario observed.yaml
      hosting-emulator exec -- hosting-emulator contract check --allow all
    """
    from hosting_emulator.contract_check import CheckOptions, CheckRefused
    from hosting_emulator.contract_check import check as run_check
    from hosting_emulator_cli import reports
    from hosting_emulator_cli.files import write_whole

    if (path := same["ca_file"]) is not None and not os.access(path, os.R_OK):
        raise Failure(f"--ca-file: cannot read {path}")
    if no_waiting:
        same["pause"] = lambda seconds: None
    try:
        report = run_check(CheckOptions(**same))
    except CheckRefused as refused:
        raise Failure(str(refused)) from refused
    if as_json:
        put_json(report)
    else:
        put(reports.check_text(report))
    if scenario is not None:
        write_whole(scenario, reports.check_scenario(report))
        say(f"A scenario that answers so is written to {scenario}.")
    if junit is not None:
        write_whole(junit, reports.check_junit(report))
    if not as_json:
        say(reports.check_summary(report))
    ctx.exit(1 if report["summary"]["differs"] else 0)
