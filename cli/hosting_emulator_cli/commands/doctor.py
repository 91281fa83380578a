"""`doctor`: looks at what an emulator needs here, and says what to do where something is amiss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.output import prints

_COLORS = {"ok": "green", "note": "yellow", "problem": "red"}


def _text(found: dict[str, Any]) -> str:
    findings = found["findings"]
    width = max(len(finding["check"]) for finding in findings)
    lines = []
    for finding in findings:
        verdict = click.style(f"{finding['verdict']:<7}", fg=_COLORS[finding["verdict"]])
        lines.append(f"{verdict}  {finding['check']:<{width}}  {finding['seen']}")
        if finding["advice"] is not None:
            lines.append(f"{'':<7}  {'':<{width}}  -> {finding['advice']}")
    counts = {v: sum(found["verdict"] == v for found in findings) for v in ("problem", "note")}
    told = [f"{n} {word}{'' if n == 1 else 's'}" for word, n in counts.items() if n]
    return "\n".join([*lines, "", f"{', '.join(told) or 'No problems'}."])


@click.command()
@opt.option("--data-dir DIRECTORY", type=click.Path(path_type=Path))
@opt.option("--port PORT")
@opt.option("--tls-port PORT")
@prints(_text, fails=lambda found: not found["ok"])
@opt.url_options
def doctor(**options: Any) -> dict[str, Any]:
    """Find out why the emulator does not start or cannot be reached."""
    from hosting_emulator_cli.commands.start import start
    from hosting_emulator_cli.doctor_checks import examine

    named = opt.source("url") is not opt.ParameterSource.DEFAULT
    findings = [finding._asdict() for finding in examine(start, named=named, **options)]
    return {"ok": all(f["verdict"] != "problem" for f in findings), "findings": findings}
