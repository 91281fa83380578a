"""`conduct`: what the client of a world did that the real service would not bear."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.conduct_reports import ask_conduct, conduct_junit, conduct_sarif
from hosting_emulator_cli.files import write_whole
from hosting_emulator_cli.groups import CommandGroup
from hosting_emulator_cli.output import columns, console, is_terminal, prints, put, put_json
from hosting_emulator_cli.parameters import split_words


@click.group(cls=CommandGroup, invoke_without_command=True)
@opt.flag("--final", "The client is done: also say what it left unfinished.")
@opt.option(
    "--off RULE",
    "Leave a rule out, by its id; repeatable. `hosting-emulator conduct rules` lists them.",
    multiple=True,
)
@opt.choice(
    "--severity",
    "Findings from this severity on make the exit code 1.",
    *("note", "warning", "error"),
    default="warning",
)
@opt.option("--junit FILE", "Also write JUnit XML, a case for each rule.")
@opt.option("--sarif FILE", "Also write SARIF 2.1.0.")
@opt.option(
    "--sarif-about PATH",
    "The file of your repository, from its root, where code scanning is to show it; else "
    "README.md.",
)
@opt.json_option
@opt.world_option
@opt.url_options
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

    Examples:
      hosting-emulator conduct --final
      hosting-emulator conduct --off operation-not-followed --junit conduct.xml
      hosting-emulator conduct rules
    """
    if ctx.invoked_subcommand is not None:
        return
    about = _about(sarif, sarif_about)
    with opt.connected(url, control_token) as client:
        report = ask_conduct(client.world(world), off=split_words(off), final=final)
        rules = client.contract("conduct-rules") if junit or sarif else []
    if junit is not None:
        write_whole(junit, conduct_junit(report, rules, world, severity))
    if sarif is not None:
        write_whole(sarif, conduct_sarif(report, rules, world, about))
    from hosting_emulator.sdk import conduct_text, of_severity

    if as_json:
        put_json(report)
    else:
        put(conduct_text(report, color=is_terminal() and not console().no_color))
    ctx.exit(1 if of_severity(report, severity)["findings"] else 0)


@conduct.command()
@prints(columns({"RULE": "id", "SEVERITY": "severity", "TITLE": "title"}))
def rules() -> list[dict[str, Any]]:
    """List the rules, with the severity of each.

    Works without a running emulator. --json adds why each is one, and what to do instead.

    Examples:
      hosting-emulator conduct rules --json
    """
    from hosting_emulator.conduct.rules import RULES

    return [rule.view() for rule in RULES.values()]


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
