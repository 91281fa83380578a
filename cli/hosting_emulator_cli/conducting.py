"""Conduct around a command: the watch begins before it, and what was found is told after it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.groups import Failure

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient

#: What may be done about conduct: nothing, tell it, or tell it and fail for it.
CONDUCT = ("off", "report", "error")


def rule_ids(texts: Sequence[str]) -> list[str]:
    """Read ids of rules, given one by one or joined by commas."""
    return [id_ for text in texts for id_ in text.replace(",", " ").split()]


def begin_watch(client: ControlClient, off: Sequence[str]) -> None:
    """Begin to watch, so that nothing is missed. Raises Failure for a rule that does not exist."""
    from hosting_emulator.sdk import ControlRefused

    try:
        client.conduct(off=off)
    except ControlRefused as refused:
        raise Failure(f"--conduct-off: {for_people(refused)}") from refused


def for_people(refused: Exception) -> str:
    """Say a refusal as the command line says it: rules are listed by a command."""
    address = "/_emulator/contract/conduct-rules lists"
    return str(refused).replace(address, "`hosting-emulator conduct rules` lists")


def conduct_of(client: ControlClient, off: Sequence[str]) -> tuple[str, bool]:
    """Return what was found in all worlds, as text, and whether any of it is a warning or worse."""
    from hosting_emulator.sdk import conduct_text, of_severity

    color = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    texts, bad = [], False
    for name, report in _reports(client, off):
        text = conduct_text(report, color=color)
        texts.append(text if name == "default" else f"world {name}\n{text}")
        bad = bad or bool(of_severity(report, "warning")["findings"])
    return "\n\n".join(texts), bad


def _reports(client: ControlClient, off: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the report of each world; of those beside the default one, where something was found."""
    names = [world["name"] for world in client.worlds()]
    reports = [(name, client.conduct(name, off=off, final=True)) for name in names]
    return [(name, report) for name, report in reports if name == "default" or report["findings"]]
