"""`conduct`: what the client of a world did that the real service would not bear."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.conduct_reports import for_people, rule_ids
from hosting_emulator_cli.groups import Failure, OrderedGroup
from hosting_emulator_cli.looks.terminal import console, is_terminal
from hosting_emulator_cli.options import (
    connected,
    control_token_option,
    examples,
    json_option,
    url_option,
    world_option,
)
from hosting_emulator_cli.output import put, put_json, table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ConductReport, ControlClient

_FILE = click.Path(dir_okay=False, path_type=Path)


off_option = click.option(
    "--off",
    multiple=True,
    metavar="RULE",
    help="Leave a rule out, by its id; repeatable. `hosting-emulator conduct rules` lists them.",
)


@click.group(
    cls=OrderedGroup,
    invoke_without_command=True,
    epilog=examples(
        "hosting-emulator conduct --final",
        "hosting-emulator conduct --off operation-not-followed --junit conduct.xml",
        "hosting-emulator conduct rules",
    ),
)
@click.option(
    "--final",
    is_flag=True,
    help="The client is done: also say what it left unfinished.",
)
@off_option
@click.option(
    "--severity",
    type=click.Choice(["note", "warning", "error"]),
    default="warning",
    show_default=True,
    help="Findings from this severity on make the exit code 1.",
)
@click.option(
    "--junit", type=_FILE, metavar="FILE", help="Also write JUnit XML, a case for each rule."
)
@click.option("--sarif", type=_FILE, metavar="FILE", help="Also write SARIF 2.1.0.")
@click.option(
    "--sarif-about",
    metavar="PATH",
    help="The file of your repository, from its root, where code scanning is to show it; else "
    "README.md.",
)
@json_option
@world_option
@url_option
@control_token_option
@click.pass_context
def conduct(
    ctx: click.Context,
    final: bool,
    off: tuple[str, ...],
    severity: str,
    junit: Path | None,
    sarif: Path | None,
    sarif_about: str | None,
    as_json: bool,
    world: str,
    url: str,
    control_token: str | None,
) -> None:
    """Say what the client did that the real service would not bear.

    Every request that the world's log holds is judged by rules, each from a sentence of the contract
    or of HTTP; from the first look on, none is missed. The exit code is 1 when something of severity
    warning or worse was found (--severity sets another bar), and 0 otherwise.
    """
    if ctx.invoked_subcommand is not None:
        return
    about = _about(sarif, sarif_about)
    with connected(url, control_token) as client:
        report = _asked(client, world, rule_ids(off), final=final)
        rules = client.conduct_rules() if junit or sarif else []
    if junit is not None:
        from hosting_emulator_cli.conduct_reports import conduct_junit
        from hosting_emulator_cli.files import write_whole

        write_whole(junit, conduct_junit(report, rules, world, severity))
    if sarif is not None:
        from hosting_emulator_cli.conduct_reports import conduct_sarif
        from hosting_emulator_cli.files import write_whole

        write_whole(sarif, conduct_sarif(report, rules, world, about))
    if as_json:
        put_json(report)
    else:
        _put_text(report)
    from hosting_emulator.sdk import of_severity

    ctx.exit(1 if of_severity(report, severity)["findings"] else 0)


@conduct.command(epilog=examples("hosting-emulator conduct rules --json"))
@json_option
def rules(as_json: bool) -> None:
    """List the rules, with the severity of each.

    Works without a running emulator. --json adds why each is one, and what to do instead.
    """
    from hosting_emulator.conduct.rules import RULES

    items = [rule.view() for rule in RULES.values()]
    if as_json:
        put_json(items)
        return
    rows = ([rule["id"], rule["severity"], rule["title"]] for rule in items)
    put(table(("RULE", "SEVERITY", "TITLE"), rows))


def _asked(client: ControlClient, world: str, off: Sequence[str], *, final: bool) -> ConductReport:
    from hosting_emulator.sdk import ControlRefused

    try:
        return client.conduct(world, off=off, final=final)
    except ControlRefused as refused:
        raise Failure(for_people(refused)) from refused


def _about(sarif: Path | None, path: str | None) -> str:
    """Return the file that SARIF is to point at. Raises UsageError."""
    if path is None:
        return "README.md"
    if sarif is None:
        raise click.UsageError("--sarif-about goes with --sarif FILE")
    plain = PurePosixPath(path)
    if not plain.name or plain.is_absolute() or ".." in plain.parts or ":" in plain.parts[0]:
        raise click.UsageError(
            f"--sarif-about {path[:80]!r}: write a path from the root of the repository, such as "
            "src/client.py"
        )
    return str(plain)


def _put_text(report: ConductReport) -> None:
    from hosting_emulator.sdk import conduct_text

    color = is_terminal() and not console().no_color
    put(conduct_text(report, color=color))
