"""`contract`: what the emulator says of the contract it serves; and any server held against it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import check_folder_of, put_document, write_whole
from hosting_emulator_cli.main import CommandGroup, Failure, examples, near
from hosting_emulator_cli.output import cell_text, columns, prints, say

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

    Works without a running emulator and shows the defaults; with --url or --world it asks the
    running one. `check` checks any server against the contract.
    """


@contract.command(epilog=examples("hosting-emulator contract openapi --output openapi.json"))
@opt.output_option
@opt.world_option
@opt.url_options
def openapi(output: Path | None, world: str, **_: Any) -> None:
    """Print the OpenAPI 3.1 document (JSON) of the public API."""
    document = opt.ask(
        lambda client: client.world(world).openapi(),
        "hosting_emulator.variation.world_openapi:default_document",
    )
    put_document(document, output, "The document was written to")


@contract.command()
@prints(columns("code", "status", "retryable", ("FROM CONTRACT", "specified"), "title"))
@opt.url_options
def problems(**_: Any) -> Any:
    """List every problem code.

    FROM CONTRACT lists what the contract itself says; the rest is an assumption. --json adds what
    each code means, when it is returned, and what a client should do.
    """

    def default() -> Any:
        from hosting_emulator.contract.problems import PROBLEMS

        return [asdict(each) | {"specified": sorted(each.specified)} for each in PROBLEMS.values()]

    return opt.ask(lambda client: client.contract("problems"), default)


def _value(row: dict[str, Any]) -> str:
    value, default = cell_text(row["value"]), cell_text(row["default"])
    return value if row["value"] == row["default"] else f"{value} (default: {default})"


def _alternatives(row: dict[str, Any]) -> str:
    """Write the alternatives, those that contradict the contract marked as such."""
    outside = row["outside_the_letter"]
    others = row["alternatives"]
    if others == "any":
        marked = [f"{text} (contradicts the contract)" for text in outside]
        return "; ".join(["any", *marked])
    texts = [cell_text(value) for value in others]
    return cell_text(
        [f"{text} (contradicts the contract)" if text in outside else text for text in texts]
    )


@contract.command(
    epilog=examples(
        """
        hosting-emulator contract assumptions
        hosting-emulator contract assumptions --world checkout --json
        """
    )
)
@prints(columns("name", ("VALUE", _value), ("ALTERNATIVES", _alternatives), "about"))
@opt.world_option
@opt.url_options
def assumptions(world: str, **_: Any) -> Any:
    """List what is assumed where the contract is silent, and the alternatives.

    --json adds the sentence of the contract that leaves each one open.
    """

    def default() -> Any:
        from hosting_emulator.contract.assumption_table import describe
        from hosting_emulator.contract.assumptions import Assumptions

        return describe(Assumptions())

    return opt.ask(lambda client: client.get(f"worlds/{world}/assumptions")["items"], default)


_MARKS = {
    "holds": ("holds", "green"),
    "differs": ("DIFFERS", "red"),
    "undecided": ("open", "yellow"),
    "skipped": ("skipped", "yellow"),
    "cannot be seen from outside": ("unseen", "bright_black"),
}


def _check_text(report: Report) -> str:
    """Write a report: sections and their sentences, then what was observed."""
    lines = [f"{report['base_url']}, project {report['project_id']}", ""]
    for section, sentences in groupby(report["sentences"], lambda found: found["section"]):
        lines.append(click.style(section, bold=True))
        for sentence in sentences:
            word, color = _MARKS[sentence["verdict"]]
            lines.append(f"  {click.style(f'{word:<7}', fg=color)}  {sentence['sentence']}")
            if sentence["verdict"] != "holds":
                lines += [f"           {message}" for message in sentence["seen"]]
        lines.append("")
    lists = {"Changed on the server:": report["created"], "Noted:": report["notes"]}
    for title, rows in lists.items():
        if rows:
            lines += [title, *(f"  {row}" for row in rows), ""]
    if report["assumptions"]:
        lines += ["Different from this emulator, for a scenario:", "", *_assumption_lines(report)]
    else:
        lines.append("Where the contract is silent, no difference from this emulator was observed.")
    return "\n".join(lines)


def _check_words(report: Report) -> str:
    counts = report["summary"]
    return (
        f"{sum(counts.values())} sentences: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['undecided']} undecided, {counts['skipped']} skipped, "
        f"{counts['cannot be seen from outside']} cannot be seen from outside "
        f"({report['requests']} requests)."
    )


def _allowed(words: list[str]) -> frozenset[str]:
    """Read what may be changed, `all` being all of it. Raises ValueError."""
    from hosting_emulator_lab.contract_check import ALLOWED

    if unknown := {*words} - {*ALLOWED, "all"}:
        hint = near(min(unknown), (*ALLOWED, "all"), f"write all, or some of {', '.join(ALLOWED)}")
        raise ValueError(f"unknown word {min(unknown)!r}{hint}")
    return frozenset(ALLOWED if "all" in words else words)


@contract.command(
    epilog=examples(
        r"""
        hosting-emulator contract check --base-url https://staging.example \
            --project 01J…
        hosting-emulator contract check --allow flag,tickets \
            --scenario observed.yaml
        hosting-emulator exec -- hosting-emulator contract check --allow all
        """
    )
)
@opt.option(
    "--base-url",
    metavar="URL",
    help="The server's URL, with or without /v1 at the end.",
    env="HOSTING_BASE_URL",
    required=True,
)
@opt.option(
    "--token",
    metavar="TOKEN",
    help="An access token of the project's owner, from an interactive session.",
    env="HOSTING_TOKEN",
    required=True,
)
@opt.option(
    "--project",
    "project_id",
    metavar="ID",
    help="The project to use; one with deployments shows more.",
    env="HOSTING_PROJECT_ID",
    required=True,
)
@opt.option(
    "--organization",
    "organization_id",
    metavar="ID",
    help="The project's organization.",
    env="HOSTING_ORGANIZATION_ID",
    required=True,
)
@opt.option(
    "--allow",
    metavar="WORDS",
    help=(
        "What the check may change: all, or some of flag, source, keys, domains, tickets, "
        "separated by commas. Default: nothing; it only reads, and sends requests that must be "
        "refused."
    ),
    multiple=True,
    callback=opt.read_words(_allowed),
)
@opt.option(
    "--maintainer-token",
    metavar="TOKEN",
    help="A token of one of the project's maintainers.",
    env="HOSTING_MAINTAINER_TOKEN",
)
@opt.option(
    "--reader-token",
    metavar="TOKEN",
    help="A token of one of the project's readers.",
    env="HOSTING_READER_TOKEN",
)
@opt.option(
    "--outsider-token",
    metavar="TOKEN",
    help="A token of a user of another organization.",
    env="HOSTING_OUTSIDER_TOKEN",
)
@opt.option(
    "--no-organization-token",
    metavar="TOKEN",
    help="A token that names no organization.",
    env="HOSTING_NO_ORGANIZATION_TOKEN",
)
@opt.option(
    "--api-key",
    metavar="TOKEN",
    help="A user API key; --allow keys creates one.",
    env="HOSTING_API_KEY",
)
@opt.option(
    "--assume",
    "assumed",
    metavar="NAME=VALUE",
    help=(
        "Set what the check cannot find out: operation_path, cursor_parameter, limit_parameter or "
        "environment_parameter; repeatable."
    ),
    multiple=True,
)
@opt.option(
    "--origin-url",
    metavar="URL",
    help="URL that serves the dev origins, if their names do not resolve here.",
)
@opt.option(
    "--ca-file",
    metavar="FILE",
    help="File with the certificate authorities to trust.",
    env="HOSTING_CA_FILE",
    type=str,
)
@opt.option(
    "--timeout",
    "timeout_s",
    metavar="DURATION",
    help="How long to wait for each response.",
    default="10s",
)
@opt.option(
    "--patience",
    "patience_s",
    metavar="DURATION",
    help="How long to wait in total: for operations to end, and when the server says to wait.",
    default="2m",
)
@opt.flag(
    "--no-waiting",
    help=(
        "Never wait, whatever the server says: for a server whose time moves by itself, such as "
        "`start --clock skip`."
    ),
)
@opt.option(
    "--scenario",
    metavar="FILE",
    help="Write a scenario that behaves as observed.",
)
@opt.junit_option
@prints(
    _check_text,
    words=_check_words,
    fails=lambda report: report["summary"]["differs"],
    refuses=lambda report: report["unchecked"],
)
def check(
    assumed: tuple[tuple[str, str], ...],
    no_waiting: bool,
    scenario: Path | None,
    junit: Path | None,
    **same: Any,
) -> Report:
    """Check any server against the contract, sentence by sentence.

    Each sentence of the contract holds, differs, cannot be seen from outside, or is skipped, with
    the responses that show it, or the reason. Where the contract is silent and the server differs
    from this emulator, the difference is printed as assumptions, ready for a scenario.

    It needs a project, and changes only what --allow permits. Exit code 0: nothing differs. 1:
    something does. 2: the check could not be made.
    """
    from hosting_emulator_lab import contract_check

    if (path := same["ca_file"]) is not None and not os.access(path, os.R_OK):
        raise Failure(f"--ca-file: cannot read {path}")
    for file in (scenario, junit):
        check_folder_of(file)  # before anything is changed there
    if no_waiting:
        same["pause"] = lambda seconds: None
    if junit is not None:
        # Whatever ends this check early leaves no report of an earlier one behind. A file that
        # cannot be written is reported at the end.
        with suppress(Failure):
            write_whole(junit, _junit_error("The check did not run to its end."))
    try:
        report = contract_check.check(contract_check.CheckOptions(assumed=dict(assumed), **same))
    except contract_check.CheckRefused as refused:
        if junit is not None:
            with suppress(Failure):
                write_whole(junit, _junit_error(str(refused)))
        raise Failure(str(refused)) from refused

    def write_files() -> None:
        if scenario is not None and report["unchecked"] is None:
            write_whole(scenario, _scenario_text(report))
            say(f"A scenario that behaves the same was written to {scenario}.")
        if junit is not None:
            write_whole(junit, _junit(report))

    # Behind the report, which is not lost with a file that cannot be written after all.
    click.get_current_context().call_on_close(write_files)
    return report


@contract.command(
    "variation-points",
    epilog=examples("hosting-emulator exec --vary 7 --only page-size -- npm test"),
)
@prints(columns(("POINT", "id"), ("WHAT VARIES", "about")))
def variation_points() -> list[VariationPoint]:
    """List where responses can vary with --vary.

    Each point is one freedom that the contract leaves. --json adds the sentence that leaves it, the
    calls whose responses vary and the assumptions that decide it.
    """
    from hosting_emulator.variation.points import list_points

    return list_points()


def _scenario_text(report: Report) -> str:
    """Write a scenario whose world answers as was observed. Ends in a newline."""
    about = f"Behaves as {report['base_url']} did where the contract is silent."
    lines = ["name: observed", f"description: {json.dumps(about)}", ""]
    if report["assumptions"]:
        lines += _assumption_lines(report)
    else:
        lines.append("# No difference from this emulator was observed.")
    return "\n".join(lines) + "\n"


def _assumption_lines(report: Report) -> list[str]:
    # JSON is YAML, and quotes whatever would need it.
    values = report["assumptions"].items()
    return ["assumptions:", *(f"  {name}: {json.dumps(value)}" for name, value in values)]


def _junit_error(message: str) -> str:
    """Write a JUnit report of a check that could not be made. Ends in a newline."""
    from hosting_emulator import junit

    case = junit.case("contract check", "the check", junit.element("error", message=message))
    return junit.report("contract check", [junit.suite("contract check", [case])])


def _junit(report: Report) -> str:
    """Write a report as JUnit XML: a suite a section, a case a sentence. Ends in a newline."""
    from hosting_emulator import junit

    suites = []
    if report["unchecked"] is not None:
        error = junit.element("error", message=report["unchecked"])
        suites.append(junit.suite("contract check", [junit.case("contract check", "all", error)]))
    for section, sentences in groupby(report["sentences"], lambda found: found["section"]):
        cases = []
        for found in sentences:
            seen, outcome = "\n".join(found["seen"]), None
            if found["verdict"] == "differs":
                outcome = junit.element("failure", seen, message=found["seen"][0])
            elif found["verdict"] != "holds":
                outcome = junit.element("skipped", message=f"{found['verdict']}: {seen}")
            cases.append(junit.case(section, f"{found['key']}: {found['sentence']}", outcome))
        suites.append(junit.suite(section, cases))
    return junit.report("contract check", suites)
