"""Implements `triggers`, which shows what faults, outcomes and timeline entries wait for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import plain_message, put, put_json
from hosting_emulator_cli.tables import columns

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator, Trigger

_trigger_columns = columns(
    ("TRIGGER", "id"),
    "effect",
    "waits_for",
    "considered",
    "seen",
    "hits",
)


def triggers_text(triggers: Sequence[Trigger]) -> str:
    """Format triggers as a table, followed by results and by reasons why triggers have not acted."""
    if not triggers:
        return "This world has no faults, outcomes or timeline entries."
    lines = [trigger_detail(trigger) for trigger in triggers]
    details = [line for line in lines if line is not None]
    return "\n".join([_trigger_columns(triggers), *details])


def trigger_detail(trigger: Trigger) -> str | None:
    """Return a trigger's result, or the reason why the trigger has not acted.

    Returns None if there is neither a result nor a reason.
    """
    if trigger.result is not None:
        return f"{trigger.id}: {trigger.result}."
    if trigger.unused is not None and trigger.type != "timeline entry":
        return f"{trigger.id} has not acted: {trigger.unused}."
    return None


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator triggers
        hosting-emulator triggers --follow
        hosting-emulator triggers --json
        """
    ),
)
@opt.flag("--follow", help="Print the triggers again whenever one changes, until Ctrl-C.")
@opt.json_option
@opt.with_world
def triggers(world: HostingEmulator, follow: bool, as_json: bool) -> None:
    """Show faults, outcomes and timeline entries, and what each one is waiting for.

    These are called triggers. WAITS FOR is what must happen before a trigger acts (`-` if it no
    longer acts). CONSIDERED is the number of requests that were checked against the trigger since
    the emulator started, SEEN is the number of requests that matched it, and HITS is the number of
    requests on which it acted. For an outcome, SEEN and HITS count operations instead of requests.
    For a timeline entry, all three are 0 until the entry has acted, and then 1. If a fault or an
    outcome has not acted, a line below the table says why, for example how the most similar request
    differed.
    """
    if not follow:
        _put_triggers(world.triggers, as_json=as_json)
        return
    # Start listening before reading the triggers, so that no change in between is missed.
    with world.requests.listen() as events:
        previous = world.triggers
        _put_update(previous, as_json=as_json)
        for _ in events:
            current = world.triggers
            if current != previous:
                previous = current
                _put_update(current, as_json=as_json, is_first=False)


def _put_triggers(current: Sequence[Trigger], *, as_json: bool) -> None:
    if as_json:
        put_json(current)
    else:
        put(triggers_text(current))


def _put_update(current: Sequence[Trigger], *, as_json: bool, is_first: bool = True) -> None:
    """Print the current triggers as one line of JSON or as a table.

    An empty line separates a table from the previous table.
    """
    if as_json:
        put(json.dumps(plain_message(current), ensure_ascii=True))
        return
    if not is_first:
        put("")
    put(triggers_text(current))
