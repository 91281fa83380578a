"""`clock`: a world's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.groups import OrderedGroup
from hosting_emulator_cli.options import examples, json_option, with_world
from hosting_emulator_cli.output import fields, put, put_json
from hosting_emulator_cli.values import rate as read_rate
from hosting_emulator_cli.values import read_with
from hosting_emulator_cli.values import timestamp as read_timestamp

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockRequest, ClockState, ControlClient


@click.group(
    cls=OrderedGroup,
    epilog=examples("hosting-emulator clock freeze", "hosting-emulator clock advance 10m"),
)
def clock() -> None:
    """Show and move a world's time.

    Everything in a world follows its clock: operations, tickets, tokens, keys. Each command prints
    the clock as it then is.
    """


@clock.command()
@json_option
@with_world
def show(client: ControlClient, world: str, as_json: bool) -> None:
    """Show the time, the clock's mode and what is due next."""
    _put_clock(client.clock(world), as_json)


@clock.command()
@json_option
@with_world
def freeze(client: ControlClient, world: str, as_json: bool) -> None:
    """Stop the clock: time moves only by `advance` and `set`."""
    _change(client, world, {"mode": "frozen"}, as_json)


@clock.command()
@json_option
@with_world
def run(client: ControlClient, world: str, as_json: bool) -> None:
    """Let the clock run at real speed, from the world's present time."""
    _change(client, world, {"mode": "real"}, as_json)


@clock.command(epilog=examples("hosting-emulator clock scale 60"))
@click.argument("rate", callback=read_with(read_rate))
@json_option
@with_world
def scale(client: ControlClient, world: str, rate: float, as_json: bool) -> None:
    """Let the clock run at another speed.

    RATE is in world seconds per real second, above 0: with 60, a minute passes each second.
    """
    _change(client, world, {"mode": "scaled", "rate": rate}, as_json)


@clock.command()
@json_option
@with_world
def skip(client: ControlClient, world: str, as_json: bool) -> None:
    """Skip waiting: a poll of an unfinished operation moves time to the next due event."""
    _change(client, world, {"mode": "skip"}, as_json)


@clock.command(
    epilog=examples(
        "hosting-emulator clock advance 10m",
        "hosting-emulator clock advance --to 2030-01-31T09:30:00Z",
        'hosting-emulator clock advance --until "$OPERATION_ID"',
    )
)
@click.argument("duration", required=False)
@click.option(
    "--to",
    callback=read_with(read_timestamp),
    metavar="TIMESTAMP",
    help="Move to this time (RFC 3339).",
)
@click.option(
    "--until",
    metavar="OPERATION",
    help="Move until the operation with this id reaches its end.",
)
@json_option
@with_world
def advance(
    client: ControlClient,
    world: str,
    duration: str | None,
    to: str | None,
    until: str | None,
    as_json: bool,
) -> None:
    """Move time forward and run all that falls due on the way.

    DURATION is world time, such as 500ms, 90s, 10m, 1h30m, 90d or PT10M. Give either DURATION, --to
    or --until.
    """
    if sum(given is not None for given in (duration, to, until)) != 1:
        raise click.UsageError("give exactly one of DURATION, --to and --until")
    _put_clock(client.advance(world, by=duration, to=to, until_operation=until), as_json)


@clock.command("set", epilog=examples("hosting-emulator clock set 2030-01-31T09:30:00Z"))
@click.argument("timestamp", callback=read_with(read_timestamp))
@json_option
@with_world
def set_(client: ControlClient, world: str, timestamp: str, as_json: bool) -> None:
    """Set the time; moving back is refused.

    TIMESTAMP is RFC 3339 text with Z or an offset.
    """
    _change(client, world, {"at": timestamp}, as_json)


def _change(client: ControlClient, world: str, request: ClockRequest, as_json: bool) -> None:
    _put_clock(client.set_clock(world, clock=request), as_json)


def _put_clock(state: ClockState, as_json: bool) -> None:
    if as_json:
        put_json(state)
        return
    due = state["next_due_at"]
    scaled = state["mode"] == "scaled"
    lines: list[tuple[str, object]] = [
        ("mode", state["mode"]),
        ("rate", f"{state['rate']:g} world seconds per real second" if scaled else None),
        ("now", state["now"]),
        ("next due", f"{due} ({state['pending']} pending)" if due else "nothing"),
    ]
    put(fields([*lines, *_moved(state)]))


def _moved(state: ClockState) -> list[tuple[str, object]]:
    if "moved_ms" not in state:
        return []
    from hosting_emulator.contract.durations import format_duration

    return [("moved", format_duration(state.moved_ms)), ("events run", state.events_run)]
