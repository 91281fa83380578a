"""The `hosting-emulator` entry point: names the commands, each of which is imported when it is needed."""

from __future__ import annotations

import click

from hosting_emulator import __version__
from hosting_emulator_cli.groups import PROGRAM, RootGroup

_HERE = "hosting_emulator_cli.commands"


@click.group(
    name=PROGRAM,
    cls=RootGroup,
    lazy={
        "start": f"{_HERE}.start:start",
        "exec": f"{_HERE}.exec:exec_",
        "explore": f"{_HERE}.exec:explore",
        "status": f"{_HERE}.status:status",
        "env": f"{_HERE}.env:env",
        "doctor": f"{_HERE}.status:doctor",
        "wait": f"{_HERE}.status:wait",
        "token": f"{_HERE}.env:token",
        "clock": f"{_HERE}.clock:clock",
        "fault": f"{_HERE}.fault:fault",
        "outcome": f"{_HERE}.fault:outcome",
        "intervene": f"{_HERE}.fault:intervene",
        "scenario": f"{_HERE}.scenario:scenario",
        "world": f"{_HERE}.world:world",
        "requests": f"{_HERE}.requests:requests",
        "why": f"{_HERE}.status:why",
        "conduct": f"{_HERE}.conduct:conduct",
        "contract": f"{_HERE}.contract:contract",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s", help="Print the version.")
def cli() -> None:
    """A local emulator of the Project Hosting Control API."""


def main() -> None:
    """Run the command line and exit."""
    cli(prog_name=PROGRAM)
