"""`doctor`: looks at what an emulator needs here, and says what to do where something is amiss."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from hosting_emulator_cli.options import DEFAULT_URL, examples, json_option, maybe_client
from hosting_emulator_cli.output import put, put_json
from hosting_emulator_cli.values import WholeNumber

if TYPE_CHECKING:
    from hosting_emulator_cli.doctor.finding import Finding

_COLORS = {"ok": "green", "note": "yellow", "problem": "red"}
_PORT = WholeNumber(0, 65535)


@click.command(
    epilog=examples(
        "hosting-emulator doctor",
        "hosting-emulator doctor --port 4700 --data-dir state",
        "hosting-emulator doctor --json",
    )
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    metavar="DIRECTORY",
    help="Look at the state here; else where the running emulator keeps it, else where `start` would.",
)
@click.option(
    "--port",
    type=_PORT,
    metavar="PORT",
    help="The port that `start` is to take; else that of --url, if it is on this machine.",
)
@click.option(
    "--tls-port", type=_PORT, metavar="PORT", help="The port that `start --tls-port` is to take."
)
@json_option
@maybe_client
@click.pass_context
def doctor(
    ctx: click.Context,
    /,
    data_dir: Path | None,
    port: int | None,
    tls_port: int | None,
    as_json: bool,
    url: str,
    control_token: str | None,
) -> None:
    """Find out why the emulator does not start, or is not found.

    Looks at versions, ports, the data directory, certificates, how names resolve, limits, the clock
    and proxies, and changes nothing. Each line is `ok`, a `note`, or a `problem` with what to do.
    Exit code 0 when there is no problem, else 1.
    """
    from hosting_emulator_cli.doctor.examining import Wanted, examine

    named = ctx.get_parameter_source("url") is not ParameterSource.DEFAULT
    try:
        findings = examine(Wanted(url, named, control_token, port, tls_port, data_dir))
    except ValueError as error:
        message = f"{url!r} is not an address: write it like {DEFAULT_URL}"
        raise click.BadParameter(message, param_hint="--url") from error
    problems = sum(finding.verdict == "problem" for finding in findings)
    if as_json:
        from dataclasses import asdict

        put_json({"ok": not problems, "findings": [asdict(finding) for finding in findings]})
    else:
        put(_text(findings))
    ctx.exit(1 if problems else 0)


def _text(findings: Sequence[Finding]) -> str:
    width = max(len(finding.check) for finding in findings)
    lines = []
    for finding in findings:
        verdict = click.style(f"{finding.verdict:<7}", fg=_COLORS[finding.verdict])
        lines.append(f"{verdict}  {finding.check:<{width}}  {finding.seen}")
        if finding.advice is not None:
            lines.append(f"{'':<7}  {'':<{width}}  -> {finding.advice}")
    return "\n".join([*lines, "", _summary(findings)])


def _summary(findings: Sequence[Finding]) -> str:
    counts = {v: sum(finding.verdict == v for finding in findings) for v in ("problem", "note")}
    told = [f"{n} {word}{'' if n == 1 else 's'}" for word, n in counts.items() if n]
    return f"{', '.join(told) or 'All is well'}."
