"""`contract`: what the emulator says of the contract it serves; and any server held against it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import put_document, write_whole
from hosting_emulator_cli.groups import CommandGroup, Failure
from hosting_emulator_cli.output import cell_text, columns, prints, put, put_json, say

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from hosting_emulator.contract_check import Report, SentenceReport


@click.group(cls=CommandGroup)
def contract() -> None:
    """Show the contract as the emulator understands it."""


@contract.command()
@opt.output_option
@opt.world_option
@opt.with_or_without_client
def openapi(ask: opt.Ask, output: Path | None, world: str) -> None:
    """Print the OpenAPI 3.1 document (JSON) of the public API."""

    def default() -> Any:
        from hosting_emulator.variation.documents import default_document

        return default_document()

    document = ask(lambda client: client.world(world).openapi(), default)
    put_document(document, output, "The document was written to")


@contract.command()
@prints(
    columns(
        {
            "CODE": "code",
            "STATUS": "status",
            "RETRYABLE": "retryable",
            "FROM CONTRACT": "specified",
            "TITLE": "title",
        }
    )
)
@opt.with_or_without_client
def problems(ask: opt.Ask) -> Any:
    """List every problem code."""

    def default() -> Any:
        from hosting_emulator.contract.problems import PROBLEMS

        known = PROBLEMS.values()
        return [asdict(problem) | {"specified": sorted(problem.specified)} for problem in known]

    return ask(lambda client: client.contract("problems"), default)


def _value(row: dict[str, Any]) -> str:
    value = cell_text(row["value"])
    changed = row["value"] != row["default"]
    return value + (f" (default: {cell_text(row['default'])})" if changed else "")


@contract.command()
@prints(
    columns({"NAME": "name", "VALUE": _value, "ALTERNATIVES": "alternatives", "ABOUT": "about"})
)
@opt.world_option
@opt.with_or_without_client
def assumptions(ask: opt.Ask, world: str) -> Any:
    """List what is assumed where the contract is silent, and the alternatives."""

    def default() -> Any:
        from hosting_emulator.contract.assumptions import Assumptions, describe

        return describe(Assumptions())

    return ask(lambda client: client.world(world).assumptions, default)


# --- contract check ------------------------------------------------------------------------------

#: As `hosting_emulator.contract_check.ALLOWED`, which is not loaded before it is needed.
ALLOWED = ("flag", "source", "keys", "domains", "tickets")


def _allowed(words: list[str]) -> frozenset[str]:
    """Read what may be changed, `all` being all of it. Raises ValueError."""
    if unknown := {*words} - {*ALLOWED, "all"}:
        from hosting_emulator.contract.words import nearest

        word = min(unknown)
        hint = nearest(word, (*ALLOWED, "all")) or f"; write all, or some of {', '.join(ALLOWED)}"
        raise ValueError(f"unknown word {word!r}{hint}")
    return frozenset(ALLOWED if "all" in words else words)


def _from_environment(declared: str, **rest: Any) -> Callable[..., Any]:
    """Declare an option that the environment of `exec` gives as well."""
    variable = f"HOSTING_{declared.split()[-2].lstrip('-').upper().replace('-', '_')}"
    return opt.option(declared, env=variable, **{"required": True, **rest})


def _token(name: str) -> Callable[..., Any]:
    return _from_environment(f"--{name} TOKEN", required=False)


@contract.command()
@_from_environment("--base-url URL")
@_from_environment("--token TOKEN")
@_from_environment("--project project_id ID")
@_from_environment("--organization organization_id ID")
@opt.option("--allow WORDS", multiple=True, callback=opt.read_words(_allowed))
@_token("maintainer-token")
@_token("reader-token")
@_token("outsider-token")
@_token("no-organization-token")
@_token("api-key")
@opt.option("--assume assumed NAME=VALUE", multiple=True)
@opt.option("--origin-url URL")
@_from_environment("--ca-file FILE", required=False, type=str)
@opt.option("--timeout timeout_s DURATION", default="10s")
@opt.option("--patience patience_s DURATION", default="2m")
@opt.flag("--no-waiting")
@opt.option("--scenario FILE")
@opt.junit_option
@opt.json_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    assumed: tuple[tuple[str, str], ...],
    no_waiting: bool,
    scenario: Path | None,
    junit: Path | None,
    as_json: bool,
    **same: Any,
) -> None:
    """Check any server against the contract, sentence by sentence."""
    from hosting_emulator.contract_check import CheckOptions, CheckRefused
    from hosting_emulator.contract_check import check as run_check

    if (path := same["ca_file"]) is not None and not os.access(path, os.R_OK):
        raise Failure(f"--ca-file: cannot read {path}")
    if no_waiting:
        same["pause"] = lambda seconds: None
    try:
        report = run_check(CheckOptions(assumed=dict(assumed), **same))
    except CheckRefused as refused:
        raise Failure(str(refused)) from refused
    if as_json:
        put_json(report)
    else:
        put(check_text(report))
    if scenario is not None:
        write_whole(scenario, check_scenario(report))
        say(f"A scenario that behaves the same was written to {scenario}.")
    if junit is not None:
        write_whole(junit, check_junit(report))
    if not as_json:
        say(check_summary(report))
    ctx.exit(1 if report["summary"]["differs"] else 0)


@contract.command("variation-points")
@prints(columns({"POINT": "id", "WHAT VARIES": "about"}))
def variation_points() -> list[dict[str, Any]]:
    """List where responses can vary with --vary."""
    from hosting_emulator.variation.points import POINTS

    return [point._asdict() for point in POINTS.values()]


# --- What became of a check, in words, as a scenario and as JUnit XML --------------------------------

_MARKS = {
    "holds": ("holds", "green"),
    "differs": ("DIFFERS", "red"),
    "skipped": ("skipped", "yellow"),
    "cannot be seen from outside": ("unseen", "bright_black"),
}


def check_text(report: Report) -> str:
    """Write a report: sections and their sentences, then what was observed."""
    lines = [f"{report['base_url']}, project {report['project_id']}", ""]
    for section, sentences in groupby(report["sentences"], lambda found: found["section"]):
        lines.append(click.style(section, bold=True))
        for sentence in sentences:
            lines += _sentence_lines(sentence)
        lines.append("")
    lines += _titled("Changed on the server:", report["created"])
    lines += _titled("Noted:", report["notes"])
    if report["assumptions"]:
        lines += ["Different from this emulator, for a scenario:", ""]
        lines += _assumption_lines(report)
    else:
        lines.append("Where the contract is silent, no difference from this emulator was observed.")
    return "\n".join(lines)


def check_summary(report: Report) -> str:
    """Say in one line what became of the sentences."""
    counts = report["summary"]
    total = sum(counts.values())
    return (
        f"{total} sentences: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['skipped']} skipped, {counts['cannot be seen from outside']} cannot be seen from "
        f"outside ({report['requests']} requests)."
    )


def check_scenario(report: Report) -> str:
    """Write a scenario whose world answers as was observed. Ends in a newline."""
    about = f"Behaves as {report['base_url']} did where the contract is silent."
    lines = ["name: observed", f"description: {json.dumps(about)}", ""]
    if report["assumptions"]:
        lines += _assumption_lines(report)
    else:
        lines.append("# No difference from this emulator was observed.")
    return "\n".join(lines) + "\n"


def check_junit(report: Report) -> str:
    """Write a report as JUnit XML: a suite a section, a case a sentence. Ends in a newline."""
    from hosting_emulator import junit

    by_section = groupby(report["sentences"], lambda found: found["section"])
    suites = [
        junit.suite(section, [_check_case(section, found) for found in sentences])
        for section, sentences in by_section
    ]
    return junit.report("contract check", suites)


def _sentence_lines(sentence: SentenceReport) -> list[str]:
    word, color = _MARKS[sentence["verdict"]]
    lines = [f"  {click.style(f'{word:<7}', fg=color)}  {sentence['sentence']}"]
    if sentence["verdict"] != "holds":
        lines += [f"           {message}" for message in sentence["seen"]]
    return lines


def _titled(title: str, rows: list[str]) -> list[str]:
    return [title, *(f"  {row}" for row in rows), ""] if rows else []


def _assumption_lines(report: Report) -> list[str]:
    # JSON is YAML, and quotes whatever would need it.
    values = report["assumptions"].items()
    return ["assumptions:", *(f"  {name}: {json.dumps(value)}" for name, value in values)]


def _check_case(section: str, found: SentenceReport) -> Element:
    from hosting_emulator import junit

    seen, outcome = "\n".join(found["seen"]), None
    if found["verdict"] == "differs":
        outcome = junit.element("failure", seen, message=found["seen"][0])
    elif found["verdict"] != "holds":
        outcome = junit.element("skipped", message=f"{found['verdict']}: {seen}")
    return junit.case(section, f"{found['key']}: {found['sentence']}", outcome)
