"""`triggers`: what waits to act in a world, and why it has not acted yet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import options as opt
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
    """Write triggers as a table, and below it why some have not acted, or what they did."""
    if not triggers:
        return "No fault, outcome or timeline entry waits in this world."
    lines = [trigger_detail(trigger) for trigger in triggers]
    details = [line for line in lines if line is not None]
    return "\n".join([_trigger_columns(triggers), *details])


def trigger_detail(trigger: Trigger) -> str | None:
    """Say why a trigger has not acted, or what it did. None: its counts say it all."""
    if trigger.result is not None:
        return f"{trigger.id}: {trigger.result}."
    if trigger.unused is not None and trigger.type != "timeline entry":
        return f"{trigger.id} has not acted: {trigger.unused}."
    return None


@click.command(
    epilog=examples(
        """
        hosting-emulator triggers
        hosting-emulator triggers --watch
        hosting-emulator triggers --json
        """
    )
)
@opt.flag("--watch", help="Print them again whenever one of them changes, until Ctrl-C.")
@opt.json_option
@opt.with_world
def triggers(world: HostingEmulator, watch: bool, as_json: bool) -> None:
    """Show what waits to act: faults, outcomes and timeline entries.

    WAITS FOR is what must happen before a trigger acts; `-` means that it acts no more. CONSIDERED
    counts the requests that were compared with it, SEEN those that matched, HITS those on which it
    acted. Below the table, each trigger that has not acted names the nearest request and the fields
    in which that differs.
    """
    if not watch:
        _put_triggers(world.triggers, as_json=as_json)
        return
    # Listening begins before the triggers are read, so that no change between them is missed.
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
    """Print triggers while they are watched: as one line of JSON, or as a table after an empty line."""
    if as_json:
        put(json.dumps(plain_message(current), ensure_ascii=True))
        return
    if not is_first:
        put("")
    put(triggers_text(current))
