"""Implements `why`, which explains what is in progress, an operation, or a response."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.connection import typed_here
from hosting_emulator_cli.exchange_text import put_whole
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import console, fields, is_terminal, put, put_json, say

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator, Why

#: The maximum number of operations that `why` explains at once.
_MOST = 20


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
        hosting-emulator why
        hosting-emulator why shop
        hosting-emulator why 01JGFJJZ1CFG7T99E7Y51GF448
        hosting-emulator why '#16'
        """
    ),
)
@click.argument(
    "subject", required=False, metavar="[SUBJECT]", shell_complete=completion.OPERATIONS
)
@opt.json_option
@opt.with_world
def why(world: HostingEmulator, subject: str | None, as_json: bool) -> None:
    """Explain what is in progress, the state of an operation, or the reason for a response.

    SUBJECT is an operation (by id), a project (by alias or id), or a request (by its number in the
    log). For a project, the command explains the operation that is in progress, or else the latest
    operation. Without SUBJECT, it explains up to 20 operations that are in progress. For an
    operation in progress, it also prints the next event, if any, and commands that advance the
    operation. Timestamps are in world time.
    """
    if subject is None:
        return _put_all(world, as_json=as_json)
    number = subject.removeprefix("#")
    if number.isascii() and number.isdecimal():
        return put_whole(world, world.requests.whole(int(number)), as_json)
    explanation = _explain(world, subject)
    if as_json:
        return put_json(explanation)
    _put(explanation)


def _put_all(world: HostingEmulator, *, as_json: bool) -> None:
    """Print explanations of the operations in progress, oldest first."""
    in_progress = world.operations(unfinished=True)
    explanations = [_explain(world, operation.id) for operation in in_progress[:_MOST]]
    if as_json:
        put_json(explanations)
        return
    for index, explanation in enumerate(explanations):
        if index:
            put("")
        _put(explanation)
    if not in_progress:
        put(
            "No operation is in progress. `why N` explains the response to request N in `requests "
            "list`, and `triggers` shows the faults and outcomes that are waiting to act."
        )
    elif len(in_progress) > _MOST:
        from hosting_emulator.sdk.text import count_text

        more = count_text(len(in_progress) - _MOST, "more operation")
        say(f"And {more} in progress: see `operations`.")


def _explain(world: HostingEmulator, subject: str) -> Why:
    """Return an explanation whose commands select the same emulator and world as this command."""
    from msgspec.structs import replace

    explanation = world.why(subject)
    commands = [typed_here(command) for command in explanation.commands]
    return replace(explanation, commands=commands)


def _put(explanation: Why) -> None:
    if not is_terminal():
        put(_why_text(explanation))
        return
    from hosting_emulator_cli.rich_views import why_panel

    console().print(why_panel(explanation))
