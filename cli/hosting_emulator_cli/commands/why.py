"""`why`: where an operation stands, and what would move it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.looks.terminal import console, is_terminal
from hosting_emulator_cli.options import examples, json_option, with_world
from hosting_emulator_cli.output import fields, put, put_json

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, Why


@click.command(epilog=examples("hosting-emulator why 01JGFJJZ1CFG7T99E7Y51GF448"))
@click.argument("operation")
@json_option
@with_world
def why(client: ControlClient, world: str, operation: str, as_json: bool) -> None:
    """Say where an operation stands, what comes next, and what would move it.

    OPERATION is its id. Times are the world's; the commands at the end can be run as they stand.
    """
    found = client.why(operation, world)
    if as_json:
        put_json(found)
    elif is_terminal():
        from hosting_emulator_cli.looks.panels import why_panel

        console().print(why_panel(found))
    else:
        put(_text(found))


def _text(found: Why) -> str:
    following = found["next"]
    told = fields(
        [
            ("operation", found["operation"]),
            ("kind", found["kind"]),
            ("project", found["project"]),
            ("state", f"{found['state']} ({found['phase']})"),
            ("at", found["at"]),
            ("next", f"{following['at']}: {following['what']}" if following else None),
            ("waits for", found["waits_for"]),
            ("held by", found["held_by"]),
        ]
    )
    return "\n".join([told, "", *found["says"], *(f"  {line}" for line in found["commands"])])
