"""`why`: explain the state of an operation, or the response to a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.connection import typed_here
from hosting_emulator_cli.exchange_text import put_whole
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import console, fields, is_terminal, put, put_json

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator, Why


def _why_text(why: Why) -> str:
    state = why.state
    if state == "running":
        state += f" ({why.phase})"
    next_event = None
    if why.next is not None:
        next_event = f"{why.next.at}: {why.next.event}"
    facts = fields(
        [
            ("operation", why.operation),
            ("kind", why.kind),
            ("project", why.project),
            ("state", state),
            ("at", why.at),
            ("next", next_event),
            ("waits for", why.waits_for),
            ("held by", why.held_by),
        ]
    )
    return "\n".join([facts, "", *why.sentences, *(f"  {command}" for command in why.commands)])


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator why 01JGFJJZ1CFG7T99E7Y51GF448
        hosting-emulator why '#16'
        """
    ),
)
@click.argument("operation", shell_complete=completion.OPERATIONS)
@opt.json_option
@opt.with_world
def why(world: HostingEmulator, operation: str, as_json: bool) -> None:
    """Explain the state of an operation, or the response to a request.

    OPERATION is an operation's id, or a request's number in the log. For an operation, the output
    also contains the next event and ready-to-run commands that advance the operation. All times
    are world time.
    """
    from msgspec.structs import replace

    number = operation.removeprefix("#")
    if number.isascii() and number.isdecimal():
        return put_whole(world, world.requests.whole(int(number)), as_json)
    explanation = world.why(operation)
    commands = [typed_here(command) for command in explanation.commands]
    explanation = replace(explanation, commands=commands)
    if as_json:
        return put_json(explanation)
    if not is_terminal():
        return put(_why_text(explanation))
    from hosting_emulator_cli.rich_views import why_panel

    console().print(why_panel(explanation))
