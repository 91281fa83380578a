"""Implements `conduct`, which reports mistakes that a client has made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import remove_report, write_whole
from hosting_emulator_cli.main import CommandGroup, Failure, examples
from hosting_emulator_cli.output import has_color, prints, put, put_json, say
from hosting_emulator_cli.tables import columns
from hosting_emulator_cli.verdict import UNDECIDED

if TYPE_CHECKING:
    from hosting_emulator.sdk import (
        ConductFinding,
        ConductReport,
        ConductRuleRow,
        ControlRefused,
        HostingEmulator,
    )

#: The choices of `exec --conduct` and `explore --conduct`: `off` judges nothing, and `error` is
#: stricter than `report`.
CONDUCT = ("off", "report", "error")


def _unless_subcommand(command: Callable[..., int]) -> Callable[..., int]:
    """If a subcommand follows, neither run the group's own command nor look for an emulator."""

    @functools.wraps(command)
    def call(*args: Any, **params: Any) -> int:
        if click.get_current_context().invoked_subcommand is not None:
            return 0
        return command(*args, **params)

    return call


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog=examples(
        """
        hosting-emulator conduct --final
        hosting-emulator conduct --skip-rule unread-field --junit conduct.xml
        hosting-emulator conduct rules
        """
    ),
)
@opt.flag(
    "--final",
    help=(
        "Also report what the client has left unfinished. Use this option after the client has "
        "exited."
    ),
)
@opt.skip_rule_option(
    "Do not check the rule with this id. `conduct rules` lists the rules. Repeatable."
)
@opt.choice(
    "--severity",
    choices=("note", "warning", "error"),
    help="The exit code is 1 if there is a finding of this severity or worse.",
    default="warning",
)
@opt.option(
    "--junit",
    metavar="FILE",
    help="Also write the report to this file as JUnit XML, with a test case for each rule.",
)
@opt.json_option
@_unless_subcommand
@opt.with_world
def conduct(
    world: HostingEmulator,
    skip_rules: tuple[str, ...],
    severity: str,
    junit: Path | None,
    as_json: bool,
    final: bool,
) -> int:
    """Report mistakes that the client has made.

    Checks the client's requests to the world against a set of rules, each of which is based on a
    sentence in the contract or in a standard. The first check covers the requests that are still
    stored, including those that were sent before a reset or before a scenario was loaded. After the
    first check, no request is missed until the emulator restarts.

    The exit code is 1 if there is a finding of the severity in --severity (by default, warning) or
    worse. Otherwise, it is 2 if there was no request to check, or if a request could not be
    checked. `conduct clear` discards all findings.
    """
    # Delete the report of an earlier run, so that it does not remain if this run fails.
    remove_report(junit)
    report = ask_conduct(world, skip_rules=skip_rules, final=final)
    if junit is not None:
        all_rules = world.control.contract("conduct-rules")
        rules = [rule for rule in all_rules if rule["id"] not in report.skipped_rules]
        write_whole(junit, _junit(report, rules, world.name, severity))
    from hosting_emulator.sdk.conduct_text import conduct_text, of_severity

    if as_json:
        put_json(report)
    else:
        put(conduct_text(report, color=has_color()))
    if of_severity(report, severity).findings:
        return 1
    gaps = undecided_reasons(report)
    for gap in gaps:
        say(f"No verdict: {gap}")
    if gaps:
        return UNDECIDED
    return 0


@conduct.command(epilog=examples("hosting-emulator conduct clear"))
@opt.with_world
def clear(world: HostingEmulator) -> None:
    """Discard all findings, and start checking anew.

    Later reports cover only requests that arrive after this command.
    """
    world.control.delete(world.control_path("conduct"))


@conduct.command(epilog=examples("hosting-emulator conduct rules --json"))
@prints(columns(("RULE", "id"), "severity", "title"))
def rules() -> list[ConductRuleRow]:
    """List the rules and their severities.

    Needs no running emulator. --json also prints the reason for each rule, and what a client should
    do instead.
    """
    from hosting_emulator.conduct.rules import RULES

    return list(RULES.values())


def undecided_reasons(report: ConductReport) -> list[str]:
    """Return the reasons why a report without findings is inconclusive.

    The list is empty if a request was checked and no request was missed.
    """
    reasons = [f"{error}." for error in report.errors]
    if not report.complete:
        reasons.append("not every request was checked. `conduct clear` restarts the checks.")
    if report.judged == 0:
        reasons.append("there is no request to check. `--world NAME` selects a different world.")
    return reasons


def ask_conduct(
    world: HostingEmulator, *, skip_rules: Sequence[str], final: bool = False, option: str = ""
) -> ConductReport:
    """Return the report on a client's conduct in a world.

    Once this function has been called for a world, no later request is missed until the emulator
    stops. If a rule to skip does not exist, raises Failure with a message that begins with
    `option`.
    """
    from hosting_emulator.sdk import ControlRefused

    try:
        return world.conduct.read(skip_rules=skip_rules, final=final)
    except ControlRefused as refused:
        raise Failure(f"{option}{with_rules_command(refused)}") from refused


def with_rules_command(refused: ControlRefused) -> str:
    """Return the text of a refusal, with the URL of the list of rules replaced by a command that
    lists them.
    """
    address = "/_emulator/contract/conduct-rules lists"
    return str(refused).replace(address, "`hosting-emulator conduct rules` lists")


def _junit(
    report: ConductReport, rules: Sequence[Mapping[str, Any]], world: str, severity: str
) -> str:
    """Format a report as JUnit XML, with a case for each rule. The XML ends with a newline.

    A case fails only if there is a finding of severity `severity` or worse.
    """
    from hosting_emulator import junit
    from hosting_emulator.sdk.conduct_text import of_severity

    failing = of_severity(report, severity).findings
    cases = []
    for rule in rules:
        findings = [finding for finding in report.findings if finding.rule == rule["id"]]
        rule_failing = [finding for finding in findings if finding in failing]
        outcome = None
        if rule_failing:
            text = _rule_text(rule, rule_failing)
            outcome = junit.element("failure", text, message=rule_failing[0].message)
        elif findings:
            outcome = junit.element("system-out", _rule_text(rule, findings))
        cases.append(junit.case("conduct", f"{rule['id']}: {rule['title']}", outcome))
    gaps = undecided_reasons(report)
    if gaps:
        outcome = junit.element("error", "\n".join(gaps), message="no verdict")
        cases.append(junit.case("conduct", "every request was checked", outcome))
    return junit.report("hosting-emulator conduct", [junit.suite(world, cases)])


def _rule_text(rule: Mapping[str, Any], findings: Sequence[ConductFinding]) -> str:
    """Format a rule's findings, the reason for the rule, and the advice."""
    from hosting_emulator.sdk.conduct_text import quotes, request_numbers

    lines = [f"{request_numbers(finding)}: {finding.message}" for finding in findings]
    lines.append(f"Why: {rule['matters']} {quotes(findings)}")
    lines.append(f"Instead: {rule['instead']}")
    return "\n".join(lines)
