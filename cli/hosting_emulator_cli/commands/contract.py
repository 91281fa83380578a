"""Implements `contract`, which shows the contract as the emulator understands it, and checks
servers.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import check_folder_of, put_document, write_whole
from hosting_emulator_cli.main import CommandGroup, Failure, examples, near
from hosting_emulator_cli.output import prints, say
from hosting_emulator_cli.tables import cell_text, columns
from hosting_emulator_cli.value_types import TextType, read_limit

if TYPE_CHECKING:
    from hosting_emulator.messages import VariationPoint
    from hosting_emulator_lab.contract_check import Report


@click.group(
    cls=CommandGroup,
    epilog=examples(
        """
        hosting-emulator contract openapi --output openapi.json
        hosting-emulator contract problems
        hosting-emulator contract check --base-url https://staging.example
        """
    ),
)
def contract() -> None:
    """Show the contract as the emulator understands it.

    The commands except `check` need no running emulator, and describe the defaults. With --world
    or --url, `openapi` and `assumptions` describe that world or emulator, and so does `problems`
    with --url. `check` checks any server against the contract.
    """


@contract.command(epilog=examples("hosting-emulator contract openapi --output openapi.json"))
@opt.output_option
@opt.typed_world_options
def openapi(output: Path | None, world: str, **_: Any) -> None:
    """Print the OpenAPI 3.1 document of the public API as JSON.

    Without --world and --url, the document describes the default assumptions, and the command ignores
    HOSTING_EMULATOR_WORLD and HOSTING_EMULATOR_URL.
    """
    document = opt.ask(
        lambda client: client.world(world).openapi(),
        "hosting_emulator.variation.world_openapi:default_document",
    )
    put_document(document, output, "The document was written to")


@contract.command()
@prints(columns("code", "status", "retryable", ("FROM CONTRACT", "specified"), "title"))
@opt.typed_url_options
def problems(**_: Any) -> Any:
    """List the problem codes.

    FROM CONTRACT names the fields whose values the contract specifies. The other values are assumptions.
    --json also prints what each code means, when it is returned, and what a client should do.
    """

    def default() -> Any:
        from hosting_emulator.contract.problems import PROBLEMS

        return [
            {**asdict(problem), "specified": sorted(problem.specified)}
            for problem in PROBLEMS.values()
        ]

    return opt.ask(lambda client: client.contract("problems"), default)


def _value_text(row: dict[str, Any]) -> str:
    """Return an assumption's value as text, together with the default if they differ."""
    value = cell_text(row["value"])
    if row["value"] == row["default"]:
        return value
    return f"{value} (default: {cell_text(row['default'])})"


def _alternatives_text(row: dict[str, Any]) -> str:
    """Return an assumption's alternatives as text, and mark those that contradict the contract."""
    contradictions = row["outside_the_letter"]
    remark = "(contradicts the contract)"
    if row["alternatives"] == "any":
        return "; ".join(["any", *(f"{text} {remark}" for text in contradictions)])
    texts = []
    for value in row["alternatives"]:
        text = cell_text(value)
        if text in contradictions:
            text = f"{text} {remark}"
        texts.append(text)
    return cell_text(texts)


@contract.command(
    epilog=examples(
        """
        hosting-emulator contract assumptions
        hosting-emulator contract assumptions --world checkout --json
        """
    )
)
@prints(columns("name", ("VALUE", _value_text), ("ALTERNATIVES", _alternatives_text), "about"))
@opt.typed_world_options
def assumptions(world: str, **_: Any) -> Any:
    """List the assumptions that the emulator makes where the contract is silent.

    Without --world and --url, the command lists the defaults, and ignores HOSTING_EMULATOR_WORLD
    and HOSTING_EMULATOR_URL. ALTERNATIVES lists the possible values other than the default. --json
    also prints the sentence in the contract that leaves the choice open.
    """

    def default() -> Any:
        from hosting_emulator.contract.assumption_table import describe
        from hosting_emulator.contract.assumptions import Assumptions

        return describe(Assumptions())

    return opt.ask(lambda client: client.get(f"worlds/{world}/assumptions")["items"], default)


def _check_text(report: Report) -> str:
    from hosting_emulator_cli.contract_report import check_text

    return check_text(report)


def _check_summary(report: Report) -> str:
    from hosting_emulator_cli.contract_report import check_summary

    return check_summary(report)


def _read_allowed(words: list[str]) -> frozenset[str]:
    """Return the kinds of changes that the check may make. `all` means all kinds.

    Raises ValueError for an unknown word.
    """
    from hosting_emulator_lab.contract_check import ALLOWED

    choices = (*ALLOWED, "all")
    unknown_words = set(words).difference(choices)
    if unknown_words:
        word = min(unknown_words)
        hint = near(word, choices, f"use `all`, or one or more of {', '.join(ALLOWED)}")
        raise ValueError(f"unknown word {word!r}{hint}")
    if "all" in words:
        return frozenset(ALLOWED)
    return frozenset(words)


def _token_option(name: str, parameter: str, help: str) -> opt.Decorator[Any]:
    """Declare an option for an additional token.

    The name of the environment variable is HOSTING_ followed by the option's name in capitals.
    """
    variable = name.removeprefix("--").replace("-", "_").upper()
    return opt.option(name, parameter, metavar="TOKEN", help=help, env=f"HOSTING_{variable}")


@contract.command(
    epilog=examples(
        r"""
        hosting-emulator contract check --base-url https://staging.example \
            --project 01J…
        hosting-emulator contract check --allow flag,tickets \
            --write-scenario observed.yaml
        hosting-emulator exec -- hosting-emulator contract check --allow all
        """
    )
)
@opt.option(
    "--base-url",
    metavar="URL",
    help="The URL of the server, with or without /v1 at the end.",
    env="HOSTING_BASE_URL",
    required=True,
)
@opt.option(
    "--token",
    metavar="TOKEN",
    help="An access token for the project's owner, from an interactive session.",
    env="HOSTING_TOKEN",
    required=True,
)
@opt.option(
    "--project",
    "project_id",
    metavar="ID",
    help=(
        "The id of the project to use. If the project has deployments, more sentences can be "
        "checked."
    ),
    env="HOSTING_PROJECT_ID",
    required=True,
)
@opt.option(
    "--organization",
    "organization_id",
    metavar="ID",
    help="The id of the project's organization.",
    env="HOSTING_ORGANIZATION_ID",
    required=True,
)
@opt.option(
    "--allow",
    metavar="WORDS",
    help=(
        "What the check may change: all, or one or more of flag, source, keys, domains and "
        "tickets, separated by commas. By default, the check sends only requests that read, or "
        "that the server must refuse."
    ),
    multiple=True,
    callback=opt.read_words(_read_allowed),
)
@_token_option("--maintainer-token", "maintainer_token", "A token for a maintainer of the project.")
@_token_option("--reader-token", "reader_token", "A token for a reader of the project.")
@_token_option("--outsider-token", "outsider_token", "A token for a user of another organization.")
@_token_option(
    "--no-organization-token", "no_organization_token", "A token that names no organization."
)
@_token_option(
    "--user-api-key",
    "api_key",
    (
        "A user API key. With --allow keys, this option is not needed, because the check creates a "
        "key."
    ),
)
@opt.option(
    "--assume",
    "assumed",
    metavar="NAME=VALUE",
    help=(
        "Set an assumption that the check cannot always discover: operation_path, cursor_parameter, "
        "limit_parameter or environment_parameter. Repeatable."
    ),
    multiple=True,
)
@opt.option(
    "--origin-url",
    metavar="URL",
    help=(
        "URL at which the dev origins can be reached, if their names do not resolve on this "
        "machine."
    ),
)
@opt.option(
    "--ca-file",
    metavar="FILE",
    help="File that contains the certificate authorities to trust.",
    env="HOSTING_CA_FILE",
    type=str,
)
@opt.option(
    "--timeout",
    "timeout_s",
    metavar="DURATION",
    help="How long to wait for each complete response.",
    type=TextType("duration", read_limit),
    default="10s",
)
@opt.option(
    "--patience",
    "patience_s",
    metavar="DURATION",
    help=(
        "How long to wait in total for operations to end, and for delays that the server requests."
    ),
    default="2m",
)
@opt.flag(
    "--no-waiting",
    help=(
        "Never wait, even if the server requests a delay. Use this option for a server whose "
        "clock is advanced by requests, such as `start --clock skip`."
    ),
)
@opt.option(
    "--write-scenario",
    "scenario",
    metavar="FILE",
    help="Write a scenario to this file. It sets the assumptions for which the server differs from the "
    "emulator's defaults.",
)
@opt.junit_option
@prints(
    _check_text,
    words=_check_summary,
    fails=lambda report: report["summary"]["differs"],
    refuses=lambda report: report["unchecked"],
)
def check(
    assumed: tuple[tuple[str, str], ...],
    no_waiting: bool,
    scenario: Path | None,
    junit: Path | None,
    ca_file: str | None,
    **check_options: Any,
) -> Report:
    """Check any server against the contract, sentence by sentence.

    For each sentence in the contract, the report says whether the server complies. If it does not,
    or if this remains open, the report also shows the responses or the reason behind the verdict.
    Some sentences are skipped, and some cannot be observed from outside the server. Where the
    contract is silent and the server behaves differently from this emulator, the report lists the
    differences as assumptions for a scenario.

    The check needs a project, and changes only what --allow permits. The exit code is 0 if no
    response contradicts the contract, 1 if one does, and 2 if the check could not run.
    """
    from hosting_emulator_cli import contract_report
    from hosting_emulator_lab import contract_check

    if ca_file is not None and not os.access(ca_file, os.R_OK):
        raise Failure(f"--ca-file: cannot read {ca_file}")
    for file in (scenario, junit):
        check_folder_of(file)  # fail before anything is changed on the server
    if no_waiting:
        check_options["pause"] = lambda seconds: None
    # Replace the report of an earlier check, so that it does not remain if this check ends early.
    _write_failed_junit(junit, "The check did not finish.")
    options = contract_check.CheckOptions(assumed=dict(assumed), ca_file=ca_file, **check_options)
    try:
        report = contract_check.check(options)
    except contract_check.CheckRefused as refused:
        _write_failed_junit(junit, str(refused))
        raise Failure(str(refused)) from refused

    def write_files() -> None:
        if scenario is not None and report["unchecked"] is None:
            write_whole(scenario, contract_report.check_scenario(report))
            say(
                "A scenario with the assumptions that differ from the emulator's defaults was written "
                f"to {scenario}."
            )
        if junit is not None:
            write_whole(junit, contract_report.check_junit(report))

    # Print the report before the files are written, because writing may fail.
    click.get_current_context().call_on_close(write_files)
    return report


def _write_failed_junit(path: Path | None, message: str) -> None:
    """Write a JUnit report on a check that could not run, if the file can be written."""
    from hosting_emulator_cli.contract_report import failed_check_junit

    if path is not None:
        with suppress(Failure):
            write_whole(path, failed_check_junit(message))


@contract.command(
    "variation-points",
    epilog=examples("hosting-emulator exec --vary 7 --vary-only page-size -- npm test"),
)
@prints(columns(("POINT", "id"), ("WHAT VARIES", "about")))
def variation_points() -> list[VariationPoint]:
    """List the variation points, at which --vary varies responses.

    At each point, the contract leaves a choice. --json also prints the sentence in the contract,
    the calls whose responses vary, and the assumptions that fix the choice.
    """
    from hosting_emulator.variation.points import list_points

    return list_points()
