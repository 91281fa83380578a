"""Implements `doctor`, which finds out why the emulator does not start or cannot be reached."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.value_types import FilePath

_COLORS = {"ok": "green", "note": "yellow", "problem": "red"}


def _findings_text(report: dict[str, Any]) -> str:
    from hosting_emulator.sdk.text import count_text

    findings = report["findings"]
    width = max(len(finding["check"]) for finding in findings)
    lines = []
    for finding in findings:
        verdict = click.style(f"{finding['verdict']:<7}", fg=_COLORS[finding["verdict"]])
        lines.append(f"{verdict}  {finding['check']:<{width}}  {finding['seen']}")
        if finding["advice"] is not None:
            lines.append(f"{'':<7}  {'':<{width}}  -> {finding['advice']}")
    counts = Counter(finding["verdict"] for finding in findings)
    texts = [count_text(counts[word], word) for word in ("problem", "note") if counts[word]]
    return "\n".join([*lines, "", f"{', '.join(texts) or 'No problems'}."])


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator doctor
        hosting-emulator doctor --port 4700 --data-dir state
        hosting-emulator doctor --json
        """
    ),
)
@opt.option(
    "--data-dir",
    metavar="DIRECTORY",
    help=(
        "Data directory to check. Default: the data directory of the running emulator, or else "
        "the one that `start` would use."
    ),
    type=FilePath(path_type=Path),
)
@opt.option(
    "--port",
    metavar="PORT",
    help=(
        "Port to check, as in `start --port`. Default: the port in --url or of this folder's emulator if "
        "it is on this machine, or else the port that `start` would use."
    ),
)
@opt.option(
    "--tls-port",
    metavar="PORT",
    help=(
        "TLS port to check, as in `start --tls-port`. Default: the TLS port that `start` would use, if "
        "any."
    ),
)
@prints(_findings_text, fails=lambda report: not report["ok"])
@opt.url_options
def doctor(**options: Any) -> dict[str, Any]:
    """Find out why the emulator does not start or cannot be reached.

    Checks the versions, the settings of `start`, the host and the ports on which `start` would listen
    with these settings, the data directory, the certificates, name resolution, limits, the clock,
    proxies and this user's running emulators, and changes nothing. Each finding is marked `ok`,
    `note` or `problem`, and each problem comes with advice. The exit code is 1 if there is a problem,
    and 0 otherwise.
    """
    from hosting_emulator_cli.commands.start import start
    from hosting_emulator_cli.doctor_checks import examine

    findings = examine(start, **options)
    is_ok = all(finding.verdict != "problem" for finding in findings)
    return {"ok": is_ok, "findings": [asdict(finding) for finding in findings]}
