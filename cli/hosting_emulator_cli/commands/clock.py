"""Implements `clock`, which shows and controls a world's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.main import CommandGroup, examples
from hosting_emulator_cli.output import fields, prints
from hosting_emulator_cli.value_types import RATE

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockRequest, ClockState, HostingEmulator


@click.group(
    cls=CommandGroup,
    epilog=examples(
        """
        hosting-emulator clock freeze
        hosting-emulator clock advance 10m
        """
    ),
)
def clock() -> None:
    """Show and control a world's clock.

    Operations, tickets, tokens and keys depend on the clock of their world. Each command prints the
    state of the clock afterwards.
    """


def _clock_text(state: ClockState) -> str:
    from hosting_emulator.contract.durations import format_duration
    from hosting_emulator.sdk import ClockMove

    lines: list[tuple[str, object]] = [("mode", state.mode)]
    if state.mode == "scaled":
        lines.append(("rate", f"{state.rate:g} world seconds per real second"))
    lines.append(("now", state.now))
    next_due = "nothing"
    if state.next_due_at:
        next_due = f"{state.next_due_at} ({state.pending} pending)"
    lines.append(("next due", next_due))
    if isinstance(state, ClockMove):
        lines.append(("moved", format_duration(state.moved_ms)))
        lines.append(("events run", state.events_run))
    return fields(lines)


@clock.command()
@prints(_clock_text)
@opt.with_world
def show(world: HostingEmulator) -> ClockState:
    """Show the world's time, the mode of its clock, and when the next event is due."""
    return world.clock.state


def _add_mode(name: str, request: ClockRequest, help: str) -> None:
    """Add a command that sets the mode of the clock. `help` is the command's help text."""

    @clock.command(name, help=help)
    @prints(_clock_text)
    @opt.with_world
    def change(world: HostingEmulator) -> ClockState:
        return world.clock.change(request)


_add_mode(
    "freeze",
    {"mode": "frozen"},
    "Stop the clock. After that, time passes only when you advance it.",
)
_add_mode("run", {"mode": "real"}, "Run the clock at real speed, from the world's current time.")


@clock.command(epilog=examples("hosting-emulator clock scale 60"))
@click.argument("rate", type=RATE)
@prints(_clock_text)
@opt.with_world
def scale(world: HostingEmulator, rate: float) -> ClockState:
    """Run the clock at a different speed.

    RATE is the number of world seconds per real second, greater than 0 and at most 1,000,000. With
    60, a minute of world time passes in each real second.
    """
    return world.clock.change({"mode": "scaled", "rate": rate})


_add_mode(
    "skip",
    {"mode": "skip"},
    "Skip waiting: a poll advances the clock to the next event of its operation.\n\n"
    "If a refusal says how long to wait, a retry of the request advances the clock to the end of that "
    "time. A poll of an operation that has ended does not advance the clock. If no event is scheduled "
    "for an operation, a poll advances the clock to the next scheduled entry of the scenario's "
    "timeline, if any.",
)


@clock.command(
    epilog=examples(
        """
        hosting-emulator clock advance 10m
        hosting-emulator clock advance --to 2030-01-31T09:30:00Z
        hosting-emulator clock advance --until-operation "$OPERATION_ID"
        """
    )
)
@click.argument("duration", required=False)
@opt.option(
    "--to",
    metavar="TIMESTAMP",
    help="Advance the clock to this time (RFC 3339), or to the real time with `now`.",
)
@opt.option(
    "--until-operation",
    metavar="OPERATION",
    help="Advance the clock until the operation with this id ends.",
)
@prints(_clock_text)
@opt.with_world
def advance(
    world: HostingEmulator, duration: str | None, to: str | None, until_operation: str | None
) -> ClockState:
    """Advance the clock, and run all events that become due.

    DURATION is an amount of world time, such as 500ms, 90s, 10m, 1h30m, 90d or PT10M. Use exactly
    one of DURATION, --to and --until-operation.
    """
    if [duration, to, until_operation].count(None) != 2:
        raise click.UsageError("use exactly one of DURATION, --to and --until-operation")
    return world.clock.move(by=duration, to=to, until_operation=until_operation)
